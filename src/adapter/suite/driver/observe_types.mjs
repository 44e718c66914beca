// Lets Node.js load TypeScript: the project's own esbuild or TypeScript takes the types away, and
// paths without an ending, or with that of the compiled file, lead to the source.
import { createRequire } from 'node:module';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve as joined } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { segments } from './script_lines.cjs';

const TYPED = /\.[cm]?tsx?$/;
const WAYS = [['esbuild'], ['vite', 'esbuild'], ['vitest', 'vite', 'esbuild'], ['tsx', 'esbuild'], ['typescript'], ['ts-jest', 'typescript']];

export const isTyped = (path) => TYPED.test(path);

// Whether Node.js does it by itself.
export const isNative = () => Boolean(process.features.typescript);

function tool(file) {
  for (const way of WAYS)
    try {
      let require = createRequire(file);
      for (const step of way.slice(0, -1)) require = createRequire(require.resolve(step));
      return { name: way.at(-1), made: require(way.at(-1)) };
    } catch {
      // The next one, then.
    }
  return null;
}

// A function that takes the types out of a text, with what is installed around a file; answers with
// the text and its source map.
export function stripper(file) {
  const found = tool(file);
  if (!found) throw new Error(`Node.js ${process.versions.node} cannot load TypeScript, and the project has neither esbuild nor TypeScript installed`);
  return (path, source) => {
    if (found.name === 'esbuild') {
      const loader = path.endsWith('x') ? 'tsx' : 'ts';
      const made = found.made.transformSync(source, { loader, sourcemap: true, sourcefile: path, target: 'node18', tsconfigRaw: {} });
      return { text: made.code, map: JSON.parse(made.map) };
    }
    const ts = found.made;
    const made = ts.transpileModule(source, {
      fileName: path,
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022, sourceMap: true, jsx: ts.JsxEmit.React, verbatimModuleSyntax: false },
    });
    return { text: made.outputText.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'), map: JSON.parse(made.sourceMapText) };
  };
}

// For each line of the text without types, the lines of the source it comes from, all from 1.
export function linesOf(map) {
  const found = map.mappings.split(';').map(() => new Set());
  for (const { line, from } of segments(map.mappings)) found[line].add(from + 1);
  return found.map((lines) => [...lines]);
}

// The format of a module that is imported with another text.
export const formatOf = (path) => (isTyped(path) && isNative() ? 'module-typescript' : 'module');

let strip;
let texts = new Map();
let format;

export function initialize(data) {
  if (data.file) strip = stripper(data.file);
  texts = new Map(data.texts);
  format = data.format;
}

export async function resolve(specifier, context, next) {
  if (/^\.\.?\//.test(specifier) && context.parentURL?.startsWith('file:')) {
    const path = joined(dirname(fileURLToPath(context.parentURL)), specifier);
    const bare = path.replace(/\.([cm]?)jsx?$/, '');
    const places = ['', '.ts', '.tsx', '.mts', '/index.ts', '/index.tsx', '.js'].map((end) => path + end);
    const found = [...(TYPED.test(path) || existsSync(path) && /\.\w+$/.test(path) ? [path] : places.slice(1)), `${bare}.ts`, `${bare}.tsx`, `${bare}.mts`].find((one) => existsSync(one));
    if (found) return { url: pathToFileURL(found).href, shortCircuit: true };
  }
  return next(specifier, context);
}

export async function load(url, context, next) {
  const other = /\?text=(\d+)$/.exec(url);
  const changed = other && texts.get(Number(other[1]));
  if (typeof changed === 'string') return { format, source: strip ? strip(fileURLToPath(url), changed).text : changed, shortCircuit: true };
  if (!strip || !url.startsWith('file:') || !TYPED.test(new URL(url).pathname) || url.includes('/node_modules/')) return next(url, context);
  const path = fileURLToPath(url);
  const { text, map } = strip(path, readFileSync(path, 'utf8'));
  const inline = Buffer.from(JSON.stringify(map)).toString('base64');
  return { format: 'module', source: `${text}\n//# sourceMappingURL=data:application/json;base64,${inline}\n`, shortCircuit: true };
}
