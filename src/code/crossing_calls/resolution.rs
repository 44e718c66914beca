//! Resolves the names of a file to the declarations of a repository that they stand for.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use super::CallIndex;
use super::call_sites::CallSite;
use super::file_names::{Binding, FileNames, WHOLE};
use super::name_path::{CALLED, INSTANCE, NamePath, PathRoot};
use crate::code::imports::join;
use crate::code::language::Language;
use crate::code::outline::DeclarationKind;
use crate::domain::id::RepoPath;

/// The most names that are followed one inside of the other: re-exports, variables, base classes.
const DEPTH: u32 = 24;

/// Methods that built-in types have too, so that a name alone does not show whose they are.
const BUILT_IN_METHODS: &str = "add all any append apply assertEqual bind call capitalize catch clear clone close \
    collect concat contains copy count debug decode delete emit encode endsWith endswith entries equals error every exec expect extend fill filter finally find findIndex \
    find_all findall first flat flatMap flush fold forEach format get group has hasOwnProperty \
    includes index indexOf info insert into isEmpty items iter join keys last \
    len length log lower map match matches max min next of on once open parse pop push put read \
    readline reduce remove replace reverse rstrip run search seek send set setdefault shift size \
    slice some sort splice split start startsWith startswith stop strip sub \
    substring sum take test then title toJSON toString trim update upper values \
    warn write zip";

/// A declaration: its file and its name.
type Site = (RepoPath, String);

/// What a path stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Referent {
    Modules(Vec<RepoPath>),
    Class(Site),
    Object(Site),
    /// The base classes of a class.
    Bases(Site),
    Function(Site),
    /// What a function returns.
    Result(Site),
    /// The functions in the lines of a file.
    Lines(RepoPath, u32, u32),
    /// Something that is not declared in the repository.
    Outside,
    Unknown,
}

/// Resolves the names that one file uses, each once.
pub struct Resolver<'a> {
    index: &'a CallIndex,
    known: RefCell<BTreeMap<(RepoPath, String), Option<Referent>>>,
    depth: Cell<u32>,
    /// The methods that are imported into the file whose calls are resolved.
    methods: OnceCell<BTreeMap<String, Vec<Site>>>,
}

impl<'a> Resolver<'a> {
    pub fn new(index: &'a CallIndex) -> Self {
        Self { index, known: RefCell::default(), depth: Cell::new(0), methods: OnceCell::new() }
    }

    /// The file and the declaration in it that a call goes to, if that is another file.
    pub fn target_of(&self, file: &RepoPath, call: &CallSite) -> Option<(RepoPath, String)> {
        let found = match self.resolve(file, call.at, &call.callee) {
            Referent::Function(site) => Some(site),
            Referent::Class(site) => Some(site).filter(|_| !is_in(Language::Go, file)),
            Referent::Bases(site) => self.bases_of(&site).into_iter().next(),
            Referent::Modules(files) => match self.member_of(&files, "default") {
                Some(Referent::Function(site) | Referent::Class(site)) => Some(site),
                _ => None,
            },
            Referent::Unknown => self.only_method(file, call),
            _ => None,
        };
        let (target, name) = found?;
        let own = self.index.files.get(file)?;
        let other = self.index.files.get(&target)?;
        let is_same_package = is_in(Language::Go, file)
            && target.parent() == file.parent()
            && other.package == own.package;
        let name = other.declared.get(&name)?.name.clone();
        (target != *file && !is_same_package).then_some((target, name))
    }

    /// What a path stands for at a byte of a file.
    fn resolve(&self, file: &RepoPath, at: usize, path: &NamePath) -> Referent {
        let names = self.index.files.get(file);
        let own = || Some((file.clone(), names?.class_at(at)?.to_owned()));
        let mut steps = path.steps.as_slice();
        let root = match &path.root {
            PathRoot::Unknown => Referent::Unknown,
            PathRoot::Outside(_) => Referent::Outside,
            PathRoot::Files(files) => Referent::Modules(files.clone()),
            PathRoot::Lines(start, end) => Referent::Lines(file.clone(), *start, *end),
            PathRoot::Own => own().map_or(Referent::Outside, Referent::Object),
            PathRoot::Super => own().map_or(Referent::Outside, Referent::Bases),
            PathRoot::Name(name) => {
                let split = names.map(|names| names.split_bound(name, steps));
                let (name, rest) = split.unwrap_or_else(|| (name.clone(), steps));
                steps = rest;
                self.find_name(file, at, &name).unwrap_or(Referent::Outside)
            }
        };
        steps.iter().fold(root, |found, step| self.take_step(found, step))
    }

    /// Computes an answer once; a question inside of itself gets none.
    fn remember(
        &self,
        file: &RepoPath,
        question: String,
        answer: impl FnOnce() -> Option<Referent>,
    ) -> Option<Referent> {
        let key = (file.clone(), question);
        if let Some(known) = self.known.borrow().get(&key) {
            return known.clone();
        }
        if self.depth.get() == DEPTH {
            return None;
        }
        self.known.borrow_mut().insert(key.clone(), None);
        self.depth.set(self.depth.get() + 1);
        let found = answer();
        self.depth.set(self.depth.get() - 1);
        self.known.borrow_mut().insert(key, found.clone());
        found
    }

    /// What all bindings of a name agree on, as far as it is known.
    fn unify(&self, file: &RepoPath, name: &str, bindings: &[&Binding]) -> Referent {
        let resolve = |one: &&Binding| {
            let question = format!("{name} at {}", one.at);
            self.remember(file, question, || Some(self.resolve(file, one.at, &one.path)))
        };
        let found = bindings.iter().filter_map(resolve).filter(|one| *one != Referent::Unknown);
        agreed(found).unwrap_or(Referent::Unknown)
    }

    fn find_name(&self, file: &RepoPath, at: usize, name: &str) -> Option<Referent> {
        let names = self.index.files.get(file)?;
        let bound = names.bindings_at(name, at);
        if !bound.is_empty() {
            return Some(self.unify(file, name, &bound));
        }
        if let Some(one) = names.declared.get(name) {
            let site = (file.clone(), name.to_owned());
            return Some(match one.kind {
                DeclarationKind::Function => Referent::Function(site),
                DeclarationKind::Type => Referent::Class(site),
                DeclarationKind::Value => Referent::Lines(file.clone(), one.start, one.end),
            });
        }
        let is_script = Language::of(file).is_some_and(Language::is_script);
        self.find_in_stars(file, names, name).filter(|_| !is_script)
    }

    fn find_in_stars(&self, file: &RepoPath, names: &FileNames, name: &str) -> Option<Referent> {
        self.remember(file, format!("* {name}"), || {
            names.stars.iter().find_map(|star| {
                let found = match self.resolve(file, WHOLE.1, star) {
                    Referent::Modules(files) => self.member_of(&files, name)?,
                    found => self.take_step(found, name),
                };
                (!matches!(found, Referent::Unknown | Referent::Outside)).then_some(found)
            })
        })
    }

    /// What one of some modules offers under a name.
    fn member_of(&self, files: &[RepoPath], name: &str) -> Option<Referent> {
        files.iter().find_map(|file| {
            self.remember(file, format!("member {name}"), || {
                if Language::of(file)?.is_script() {
                    return self.find_export(file, name);
                }
                let found = self.find_name(file, WHOLE.1, name);
                found.filter(|one| *one != Referent::Outside).or_else(|| self.submodule(file, name))
            })
        })
    }

    fn find_export(&self, file: &RepoPath, name: &str) -> Option<Referent> {
        let names = self.index.files.get(file)?;
        let exported = |name: &str| {
            let paths = names.exports.get(name)?.iter();
            agreed(paths.map(|path| self.resolve(file, WHOLE.1, path)))
        };
        let default = exported("default");
        if name == "default" {
            return Some(match default {
                // `module.exports = require('./cart')`
                Some(Referent::Modules(files)) => {
                    self.member_of(&files, name).unwrap_or(Referent::Modules(files))
                }
                Some(found) => found,
                None => Referent::Modules(vec![file.clone()]),
            });
        }
        let of_default = || {
            let found = self.take_step(default?, name);
            (found != Referent::Unknown).then_some(found)
        };
        exported(name).or_else(|| self.find_in_stars(file, names, name)).or_else(of_default)
    }

    /// A module of a Python package.
    fn submodule(&self, file: &RepoPath, name: &str) -> Option<Referent> {
        (file.file_name() == "__init__.py").then_some(())?;
        let paths = [format!("{name}.py"), format!("{name}/__init__.py")];
        let paths = paths.into_iter().filter_map(|path| join(file.parent(), &path));
        let mut files = paths.filter_map(|path| RepoPath::parse(path).ok());
        let found = files.find(|path| self.index.files.contains_key(path))?;
        Some(Referent::Modules(vec![found]))
    }

    fn take_step(&self, from: Referent, step: &str) -> Referent {
        let is_made = matches!(step, CALLED | INSTANCE);
        let found = match from {
            Referent::Outside => Some(Referent::Outside),
            Referent::Modules(files) if is_made => self
                .member_of(&files, "default")
                .filter(|one| !matches!(one, Referent::Modules(_)))
                .map(|one| self.take_step(one, step)),
            Referent::Modules(files) => self.member_of(&files, step),
            Referent::Class(site) if is_made => Some(Referent::Object(site)),
            Referent::Object(site) if step == INSTANCE => Some(Referent::Object(site)),
            Referent::Class((file, class)) | Referent::Object((file, class)) => {
                self.class_member(&(file, class), step)
            }
            Referent::Bases(site) => {
                let bases = self.bases_of(&site);
                bases.iter().find_map(|base| self.class_member(base, step))
            }
            Referent::Function((file, name)) if is_made => Some(Referent::Result((file, name))),
            Referent::Result((file, name)) => {
                self.declared_function(&file, &format!("{name}.{step}"))
            }
            Referent::Lines(file, start, end) => self.function_between(&file, (start, end), step),
            Referent::Function(_) | Referent::Unknown => None,
        };
        found.unwrap_or(Referent::Unknown)
    }

    fn declared_function(&self, file: &RepoPath, name: &str) -> Option<Referent> {
        let found = self.index.files.get(file)?.declared.get(name)?;
        let site = (file.clone(), name.to_owned());
        (found.kind == DeclarationKind::Function).then_some(Referent::Function(site))
    }

    fn function_between(
        &self,
        file: &RepoPath,
        (start, end): (u32, u32),
        name: &str,
    ) -> Option<Referent> {
        let mut functions = self.index.files.get(file)?.functions.iter();
        let found = functions.find(|one| {
            one.name.rsplit('.').next() == Some(name) && start <= one.start && one.end <= end
        })?;
        Some(Referent::Function((file.clone(), found.name.clone())))
    }

    /// A method, attribute or inner class of a class, or of one that it inherits from.
    fn class_member(&self, site: &Site, name: &str) -> Option<Referent> {
        let (file, class) = site;
        let full = format!("{class}.{name}");
        self.remember(file, format!("class {full}"), || {
            let names = self.index.files.get(file)?;
            // The methods of a type may be in any file of its package in Go.
            let package = names.stars.iter().filter_map(|star| match &star.root {
                PathRoot::Files(files) if is_in(Language::Go, file) => Some(files),
                _ => None,
            });
            let mut files = std::iter::once(file).chain(package.flatten());
            let method = files.find_map(|file| self.declared_function(file, &full));
            let inner = || {
                let one = names.declared.get(&full)?;
                let site = (file.clone(), full.clone());
                (one.kind == DeclarationKind::Type).then_some(Referent::Class(site))
            };
            let attribute = || {
                let found = names.attributes.get(&(class.clone(), name.to_owned()))?;
                Some(self.unify(file, &full, &found.iter().collect::<Vec<_>>()))
            };
            let inherited =
                || self.bases_of(site).iter().find_map(|base| self.class_member(base, name));
            method.or_else(inner).or_else(attribute).or_else(inherited)
        })
    }

    fn bases_of(&self, (file, class): &Site) -> Vec<Site> {
        let bases = self.index.files.get(file).and_then(|names| names.bases.get(class));
        let resolve = |one: &Binding| match self.resolve(file, one.at, &one.path) {
            Referent::Object(site) | Referent::Result(site) => Some(site),
            _ => None,
        };
        bases.into_iter().flatten().filter_map(resolve).collect()
    }

    /// The only method of a name in the imported classes, where the object is unknown.
    fn only_method(&self, file: &RepoPath, call: &CallSite) -> Option<Site> {
        let (name, receiver) = call.callee.steps.split_last()?;
        let receiver = NamePath { root: call.callee.root.clone(), steps: receiver.to_vec() };
        let object = self.resolve(file, call.at, &receiver);
        let is_known = !matches!(object, Referent::Unknown | Referent::Result(_));
        if is_known || BUILT_IN_METHODS.split(' ').any(|one| one == name) {
            return None;
        }
        let methods = self.methods.get_or_init(|| self.imported_methods(file));
        let [only] = methods.get(name)?.as_slice() else { return None };
        Some(only.clone())
    }

    /// The methods of the classes in a file and in those that it imports, by name.
    fn imported_methods(&self, file: &RepoPath) -> BTreeMap<String, Vec<Site>> {
        let mut files = BTreeSet::from([file.clone()]);
        let names = self.index.files.get(file);
        for one in names.into_iter().flat_map(|names| names.bindings.values().flatten()) {
            if let PathRoot::Files(imported) = &one.path.root {
                files.extend(imported.iter().cloned());
            }
            if one.scope == WHOLE {
                match self.resolve(file, one.at, &one.path) {
                    Referent::Modules(imported) => files.extend(imported),
                    Referent::Class((other, _)) | Referent::Function((other, _)) => {
                        files.insert(other);
                    }
                    _ => {}
                }
            }
        }
        let mut found: BTreeMap<String, Vec<Site>> = BTreeMap::new();
        for other in files {
            let Some(names) = self.index.files.get(&other) else { continue };
            for (full, one) in &names.declared {
                let Some((owner, method)) = full.rsplit_once('.') else { continue };
                let is_class = match names.declared.get(owner) {
                    Some(owner) if owner.kind == DeclarationKind::Type => true,
                    // Methods of a prototype stand behind their class.
                    Some(owner) => one.start > owner.end,
                    None => is_in(Language::Go, &other),
                };
                if one.kind == DeclarationKind::Function && is_class {
                    found.entry(method.to_owned()).or_default().push((other.clone(), full.clone()));
                }
            }
        }
        found
    }
}

fn is_in(language: Language, file: &RepoPath) -> bool {
    Language::of(file) == Some(language)
}

/// The one thing that all are, if they agree.
fn agreed(mut found: impl Iterator<Item = Referent>) -> Option<Referent> {
    let first = found.next()?;
    found.all(|one| one == first).then_some(first)
}
