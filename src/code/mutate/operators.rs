//! The table of edit operators: which nodes each one edits, and how likely its edits are right.

use super::edit_site::{EditList, EditSite, first, is_condition};
use super::name::NAMES;
use super::node_kind::NodeKind;
use super::operator_id::OperatorId as Id;
use super::value::{
    INGREDIENTS, append, cut_at, grouped, is_in_sum_or_index, is_of_arithmetic, may_count, wrap_in,
};
use super::{binary, constant, expression, insertion, name, statement, value};

/// One row of the table: a function that edits certain nodes.
pub struct Operator {
    /// The operator that its edits are attributed to; several rows may share an operator.
    pub id: Id,
    pub applies: EditedNodes,
    /// The likelihood that its edits are right, as a factor of the operator's yield.
    pub weight: f64,
    /// Adds its edits of a node to the list.
    pub edits: fn(&EditSite<'_>, &mut EditList<'_>),
}

/// Selects the nodes that an operator edits.
#[derive(Clone, Copy)]
pub enum EditedNodes {
    To(&'static [NodeKind]),
    Nodes(fn(&EditSite<'_>) -> bool),
    /// Expressions that are read and satisfy a condition.
    Values(fn(&EditSite<'_>) -> bool),
    /// Statements in a block that satisfy a condition.
    Statements(fn(&EditSite<'_>) -> bool),
}

use EditedNodes::{Nodes, Statements, To, Values};
use NodeKind as Kind;

const fn row(
    id: Id,
    applies: EditedNodes,
    weight: f64,
    edits: fn(&EditSite<'_>, &mut EditList<'_>),
) -> Operator {
    Operator { id, applies, weight, edits }
}

fn is_kind(site: &EditSite<'_>, kinds: &[NodeKind]) -> bool {
    kinds.contains(&site.kind)
}

const ANY: fn(&EditSite<'_>) -> bool = |_| true;

/// All operators, in the order of credit for equal texts and of trying equal priorities.
pub const OPERATORS: &[Operator] = &[
    // Constants. Off by one is the most frequent mistake with a number.
    row(Id::Constant, To(&[Kind::Number]), 1.2, constant::neighbours),
    row(Id::Constant, To(&[Kind::Number]), 1.0, constant::common_numbers),
    row(Id::Constant, To(&[Kind::Number]), 0.3, constant::related_numbers),
    row(Id::Constant, To(&[Kind::Number]), 0.6, constant::related_fractions),
    row(Id::Constant, To(&[Kind::Number]), 0.6, constant::character_codes),
    row(Id::Constant, To(&[Kind::Number]), 0.5, |site, edits| {
        edits.replace_all(site.node, first(&site.scope.numbers, 10));
    }),
    row(Id::Text, To(&[Kind::Text, Kind::Character]), 1.0, constant::strings_of_the_file),
    row(Id::Text, To(&[Kind::Character]), 0.8, constant::related_characters),
    row(Id::Text, To(&[Kind::Text, Kind::Character]), 1.5, constant::other_brackets),
    row(Id::Text, To(&[Kind::Text]), 0.8, constant::common_strings),
    row(Id::Text, To(&[Kind::Text]), 1.0, constant::respelled_string),
    row(Id::Text, To(&[Kind::Text]), 0.5, constant::shorter_string),
    row(Id::Text, To(&[Kind::Text]), 1.0, constant::longer_string),
    row(Id::Truth, To(&[Kind::Truth]), 1.0, |site, edits| {
        edits.replace(site.node, site.spelling.opposite(site.text));
    }),
    row(Id::Truth, To(&[Kind::Truth]), 0.2, |site, edits| {
        value::replace_fitting([site.spelling.nothing].into_iter(), site, edits);
    }),
    row(Id::Constant, To(&[Kind::Nothing]), 0.3, |site, edits| {
        edits.replace_all(site.node, site.spelling.empties.iter().copied());
    }),
    // Names. A known confusion is likelier than an arbitrary name from nearby.
    row(Id::Callee, Nodes(name::is_callee), 1.2, name::confused_names),
    row(Id::Callee, Nodes(name::is_callee), 0.6, |site, edits| {
        edits.replace_all(site.node, first(&site.scope.callables, NAMES));
    }),
    row(Id::Exception, Nodes(name::is_variable), 1.2, name::confused_names),
    row(
        Id::AssignmentTarget,
        Nodes(|site| name::is_variable(site) && name::is_assigned(site)),
        1.0,
        |site, edits| name::other_names(site.names(NAMES), site, edits),
    ),
    row(
        Id::Variable,
        Nodes(|site| name::is_variable(site) && !name::is_assigned(site)),
        1.0,
        name::other_variables,
    ),
    row(Id::Method, Nodes(name::is_property), 1.2, name::confused_names),
    row(Id::Property, Nodes(name::is_property), 0.7, |site, edits| {
        name::other_names(first(&site.scope.properties, NAMES), site, edits);
    }),
    // Binary operators.
    row(Id::Comparison, To(&[Kind::Compare]), 1.0, binary::other_operators),
    row(Id::Logic, To(&[Kind::Logic]), 1.0, binary::other_operators),
    row(Id::Arithmetic, To(&[Kind::Arithmetic]), 1.0, binary::other_operators),
    row(Id::SwapOperands, To(&[Kind::Arithmetic, Kind::Compare]), 1.0, binary::swapped_operands),
    row(Id::Negate, To(&[Kind::Compare]), 0.4, binary::negated_comparison),
    row(Id::DropOperand, To(&[Kind::Arithmetic, Kind::Logic]), 1.0, binary::one_operand),
    row(Id::Arithmetic, To(&[Kind::Arithmetic, Kind::Logic]), 0.5, binary::grouped_left),
    row(Id::Arithmetic, To(&[Kind::Arithmetic, Kind::Logic]), 0.4, binary::ungrouped_left),
    // Unary operators. A superfluous `await` is rarer than a missing one.
    row(Id::DropNegation, To(&[Kind::Not]), 1.0, expression::bare_operand),
    row(Id::Sign, To(&[Kind::Sign]), 1.0, expression::bare_operand),
    row(Id::Await, To(&[Kind::Await]), 0.5, expression::bare_operand),
    // Calls and their arguments.
    row(Id::UnwrapCall, To(&[Kind::Call]), 1.0, expression::first_argument),
    row(Id::UnwrapCall, To(&[Kind::Call]), 0.9, expression::receiver),
    row(Id::SwapArguments, To(&[Kind::Arguments]), 1.0, expression::swapped_arguments),
    row(Id::DropArgument, To(&[Kind::Arguments]), 0.7, expression::fewer_arguments),
    row(Id::AddArgument, To(&[Kind::Arguments]), 1.0, expression::more_arguments),
    row(Id::AddArgument, To(&[Kind::Arguments]), 1.0, expression::argument_pairs),
    row(Id::AddArgument, To(&[Kind::Arguments]), 2.0, expression::descending_order),
    row(Id::AssignmentTarget, Nodes(expression::is_dropped_result), 0.8, expression::taken_result),
    // Elements, slices, sequences, conditional expressions.
    row(Id::Slice, To(&[Kind::Subscript]), 0.8, expression::whole_sequence),
    row(Id::Slice, To(&[Kind::Subscript]), 0.6, expression::other_access),
    row(Id::OffByOne, To(&[Kind::Slice, Kind::Subscript]), 0.8, expression::other_bounds),
    row(Id::OffByOne, To(&[Kind::Slice]), 1.5, expression::other_end),
    row(Id::SwapBranches, To(&[Kind::Choice]), 1.2, expression::swapped_results),
    row(Id::SwapBranches, To(&[Kind::Choice]), 0.6, expression::one_result),
    row(Id::SwapElements, To(&[Kind::Sequence]), 1.0, expression::swapped_elements),
    row(Id::DropOperand, To(&[Kind::Sequence]), 0.3, expression::fewer_elements),
    // Assignments. Replacing `+=` by `=` seldom repairs anything, hence its low weight.
    row(Id::AugmentedAssignment, To(&[Kind::Augment]), 1.0, expression::other_augmented),
    row(Id::AugmentedAssignment, To(&[Kind::Augment]), 0.6, expression::plain_assignment),
    row(Id::Update, To(&[Kind::Update]), 1.0, expression::opposite_update),
    row(Id::AugmentedAssignment, To(&[Kind::Assign]), 1.0, expression::augmented_assignment),
    row(Id::SwapOperands, To(&[Kind::Assign]), 0.5, expression::reversed_assignment),
    row(Id::WrapInCall, To(&[Kind::Assign]), 0.5, expression::accumulated),
    row(Id::AssignmentTarget, To(&[Kind::Assign, Kind::Augment]), 0.35, expression::other_target),
    // Any value. Off-by-one errors are most common in counts and indices, and above all where a range ends.
    row(Id::OffByOne, Values(value::is_range_bound), 1.5, |site, edits| {
        edits.replace(site.node, format!("{} + 1", grouped(site)));
    }),
    row(
        Id::OffByOne,
        Values(|site| may_count(site) && is_in_sum_or_index(site) && !is_of_arithmetic(site)),
        0.9,
        value::one_off,
    ),
    // Another operator is a smaller change than one more operand.
    row(
        Id::OffByOne,
        Values(|site| may_count(site) && is_in_sum_or_index(site) && is_of_arithmetic(site)),
        0.6,
        value::one_off,
    ),
    row(
        Id::OffByOne,
        Values(|site| may_count(site) && !is_in_sum_or_index(site)),
        0.3,
        value::one_off,
    ),
    row(
        Id::Arithmetic,
        Values(|site| may_count(site) && is_in_sum_or_index(site)),
        0.3,
        |site, edits| edits.replace(site.node, format!("-{}", grouped(site))),
    ),
    row(
        Id::Arithmetic,
        Values(|site| may_count(site) || site.node.kind() == "parenthesized_expression"),
        1.0,
        value::share_of_value,
    ),
    row(Id::WrapInCall, Values(ANY), 0.8, |site, edits| {
        wrap_in(site.spelling.wrappers, site, edits);
    }),
    row(Id::WrapInCall, Values(ANY), 0.4, |site, edits| {
        wrap_in(site.spelling.rare_wrappers, site, edits);
    }),
    row(Id::Slice, Values(value::may_be_sequence), 0.6, |site, edits| {
        append(site.spelling.slices, site, edits);
    }),
    // A parameter that the function never reads is the likeliest bound for a slice.
    row(Id::Slice, Values(value::may_be_sequence), 1.5, |site, edits| {
        cut_at(first(&site.scope.unread, usize::MAX), site, edits);
    }),
    row(Id::Slice, Values(value::may_be_sequence), 0.3, |site, edits| {
        cut_at(site.names(5), site, edits);
    }),
    row(Id::SuffixCall, Values(value::has_methods), 0.5, |site, edits| {
        append(site.spelling.suffixes, site, edits);
    }),
    row(Id::WrapInCall, Nodes(value::is_text_receiver), 0.5, value::distinct_elements),
    row(Id::SuffixCall, Nodes(value::is_in_chain), 0.5, |site, edits| {
        append(site.spelling.chained, site, edits);
    }),
    row(Id::SuffixCall, Nodes(value::is_text_receiver), 0.4, |site, edits| {
        append(site.spelling.normalizers, site, edits);
    }),
    row(Id::Negate, Values(is_condition), 1.0, value::negated),
    row(Id::Negate, Values(value::is_flag), 1.0, value::negated),
    row(Id::Negate, Nodes(value::is_group_of_logic), 0.8, |site, edits| {
        edits.replace(site.node, format!("{}{}", site.spelling.not, site.text));
    }),
    row(
        Id::Negate,
        Values(|site| value::is_boolean_call(site) && !is_condition(site)),
        1.0,
        value::negated,
    ),
    row(
        Id::Negate,
        Values(|site| {
            site.parent == Kind::Return
                && is_kind(site, &[Kind::Call, Kind::Logic, Kind::Name, Kind::Member])
        }),
        0.3,
        value::negated,
    ),
    row(Id::ExtendCondition, Values(is_condition), 1.0, value::extended_condition),
    // Another value from nearby: the more of them are possible, the less likely each one is.
    row(Id::Ingredient, Values(is_condition), 0.3, |site, edits| {
        edits.replace_all(site.node, first(&site.scope.expressions, INGREDIENTS));
    }),
    row(Id::Ingredient, Values(|site| !is_condition(site)), 1.0, value::similar_expressions),
    row(
        Id::Variable,
        Values(|site| !is_kind(site, &[Kind::Name, Kind::Number])),
        0.35,
        |site, edits| value::replace_fitting(site.names(NAMES), site, edits),
    ),
    row(Id::Variable, To(&[Kind::Number]), 0.35, |site, edits| {
        value::replace_fitting(site.names(NAMES), site, edits);
    }),
    row(Id::Constant, Values(|site| site.kind == Kind::Name), 0.25, |site, edits| {
        value::replace_fitting(["0", "1"].into_iter(), site, edits);
    }),
    row(Id::Constant, Values(|site| site.kind == Kind::Name), 0.4, value::character_instead),
    row(
        Id::Ingredient,
        Values(|site| is_kind(site, &[Kind::Name, Kind::Subscript])),
        0.6,
        value::element_instead,
    ),
    row(Id::Ingredient, Values(value::may_lack_operand), 0.25, value::more_operands),
    row(Id::Ingredient, Values(value::may_lack_part), 0.25, value::joined_sequence),
    row(Id::Ingredient, To(&[Kind::Arithmetic]), 0.6, value::separated_texts),
    row(Id::Ingredient, Values(|site| site.kind == Kind::Call), 2.0, value::with_first_element),
    row(Id::WrapInCall, Values(value::may_lack_bound), 0.2, value::with_bound),
    row(Id::Constant, To(&[Kind::Sequence]), 0.3, value::nested_empty),
    row(
        Id::Await,
        Values(|site| site.kind == Kind::Call && site.parent != Kind::Await),
        0.7,
        value::awaited,
    ),
    // Statements with a keyword: `return`, `if`, loops.
    row(Id::FlipReturns, To(&[Kind::Return]), 1.0, statement::flipped_returns),
    row(Id::Return, To(&[Kind::Return]), 0.8, statement::returned_variable),
    row(Id::Return, To(&[Kind::Return]), 1.0, statement::returned_constant),
    row(Id::Negate, To(&[Kind::Return]), 0.5, statement::negated_return),
    row(Id::Return, To(&[Kind::Return]), 0.1, statement::wrapped_return),
    row(Id::Guard, To(&[Kind::If, Kind::While]), 1.0, statement::constant_condition),
    row(Id::Guard, To(&[Kind::If, Kind::While]), 1.0, statement::if_or_loop),
    row(Id::InsertStatement, To(&[Kind::While, Kind::For]), 4.0, insertion::missing_update),
    row(Id::Return, Nodes(ANY), 1.0, statement::other_jump),
    row(Id::Guard, To(&[Kind::If]), 1.5, statement::separate_if),
    row(
        Id::InsertStatement,
        Statements(|site| site.kind == Kind::If),
        1.0,
        insertion::missing_else,
    ),
    // Any statement of a block. A loop sets its variable itself.
    row(Id::AugmentedAssignment, Statements(statement::is_set_by_loop), 1.5, statement::dropped),
    row(Id::DropStatement, Statements(|site| site.siblings.len() > 1), 1.0, statement::dropped),
    row(
        Id::DropStatement,
        Statements(|site| site.siblings.len() == 1 && site.kind != Kind::Return),
        0.5,
        statement::emptied,
    ),
    row(Id::Guard, Statements(statement::is_nested), 0.5, insertion::missing_guard),
    row(Id::InsertStatement, Statements(statement::is_nested), 4.0, insertion::deferred_unlock),
    row(Id::InsertStatement, Statements(statement::is_nested), 0.6, insertion::repeated_statement),
    row(Id::InsertStatement, Statements(statement::is_nested), 0.7, insertion::similar_call),
    row(Id::InsertStatement, Statements(statement::is_nested), 0.4, insertion::variable_change),
    row(Id::InsertStatement, Statements(statement::is_nested), 0.35, insertion::variable_copy),
    row(Id::InsertStatement, Statements(statement::is_nested), 0.3, insertion::adapted_statement),
    row(Id::InsertStatement, Statements(statement::is_nested), 0.6, insertion::finished_result),
    row(Id::MoveStatement, Statements(ANY), 0.5, statement::exchanged),
    row(Id::MoveStatement, Statements(ANY), 1.0, statement::moved_out),
    row(Id::MoveStatement, Statements(ANY), 0.7, statement::moved_in),
    row(Id::DropStatement, Statements(ANY), 1.0, statement::unconditional),
];

impl Operator {
    /// Adds the edits of a node if the operator applies to it.
    pub fn edit(&self, site: &EditSite<'_>, is_value: bool, edits: &mut EditList<'_>) {
        let is_statement = !site.siblings.is_empty();
        let applies = match self.applies {
            Statements(accepts) => is_statement && accepts(site),
            _ if is_statement => false,
            To(kinds) => kinds.contains(&site.kind),
            Nodes(accepts) => accepts(site),
            Values(accepts) => is_value && accepts(site),
        };
        if applies {
            edits.attribute_to(self.id, self.weight);
            (self.edits)(site, edits);
        }
    }
}
