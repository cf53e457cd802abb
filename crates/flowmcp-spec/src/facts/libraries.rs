//! Follows the factory's `libraries` through destructuring, aliases and calls to where a library is taken from it.

use std::{borrow::Cow, collections::HashSet};

use oxc_ast::ast::{BindingPattern, Expression, FormalParameters};
use oxc_semantic::SymbolId;
use oxc_span::GetSpan;

use super::{
    CodeUse,
    chain::End,
    outline::Declared,
    reach::{FILE, Found, Unit},
    walk::Walk,
};
use crate::Span;

/// What a name holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Meaning {
    /// The factory's argument.
    Dependencies,
    Libraries,
    /// One library, which may be missing.
    Library,
}

/// Where a value is taken apart.
#[derive(Clone, Copy)]
struct Place {
    unit: Unit,
    eager: bool,
}

struct Trail<'w, 'a, 's> {
    walk: &'w mut Walk<'a, 's>,
    found: Vec<Found<'a>>,
    seen: HashSet<(SymbolId, Meaning)>,
    open: Vec<(SymbolId, Meaning)>,
}

/// Finds every library that is taken; may add edges, since a missing library fails where it is taken apart.
pub(super) fn follow<'a>(walk: &mut Walk<'a, '_>) -> Vec<Found<'a>> {
    let Some(factory) = walk.outline.factory else { return Vec::new() };
    let mut trail = Trail { walk, found: Vec::new(), seen: HashSet::new(), open: Vec::new() };
    trail.argument(factory.params, 0, Meaning::Dependencies, Place { unit: FILE, eager: true });
    while let Some((symbol, meaning)) = trail.open.pop() {
        trail.symbol(symbol, meaning);
    }
    trail.found
}

impl<'a> Trail<'_, 'a, '_> {
    fn take(&mut self, name: Cow<'a, str>, span: Span, unit: Unit) {
        self.found.push(Found { name, span, unit });
    }

    /// The whole of the libraries goes where it cannot be followed.
    fn lose(&mut self, span: Span) {
        self.take(Cow::Borrowed(CodeUse::ANY), span, FILE);
    }

    fn push(&mut self, symbol: Option<SymbolId>, meaning: Meaning) {
        if let Some(symbol) = symbol
            && self.seen.insert((symbol, meaning))
        {
            self.open.push((symbol, meaning));
        }
    }

    fn symbol(&mut self, symbol: SymbolId, meaning: Meaning) {
        let scoping = self.walk.scoping;
        for reference in scoping.get_resolved_reference_ids(symbol) {
            self.access(*reference, symbol, meaning);
        }
    }

    fn access(&mut self, reference: oxc_semantic::ReferenceId, symbol: SymbolId, meaning: Meaning) {
        let Some(access) = self.walk.access(reference) else { return };
        let (span, end, place) = (access.span, access.end, Place { unit: access.unit, eager: access.eager });
        let range = access.keys.clone();
        let mut meaning = meaning;
        for index in range.clone() {
            let Some(key) = self.walk.keys.get(index) else { return };
            let next = if index + 1 < range.end { self.walk.keys.get(index + 1) } else { None };
            match (meaning, &key.name) {
                (Meaning::Library, _) => {
                    if place.eager && !key.optional {
                        self.needed_at_load(symbol);
                    }
                    return;
                }
                (Meaning::Dependencies, Some(name)) if name == "libraries" => meaning = Meaning::Libraries,
                (Meaning::Dependencies, Some(_)) => return,
                (Meaning::Dependencies | Meaning::Libraries, None) => return self.lose(key.span),
                (Meaning::Libraries, Some(name)) => {
                    let is_taken_apart = match next {
                        Some(next) => !next.optional,
                        None => match end {
                            End::Declared(pattern) => {
                                !matches!(pattern, BindingPattern::BindingIdentifier(_))
                            }
                            _ => false,
                        },
                    };
                    let (name, key_span) = (name.clone(), key.span);
                    let unit = if place.eager && is_taken_apart { FILE } else { place.unit };
                    if next.is_none()
                        && let End::Declared(BindingPattern::BindingIdentifier(id)) = end
                    {
                        self.push(id.symbol_id.get(), Meaning::Library);
                    }
                    return self.take(name, key_span, unit);
                }
            }
        }
        match (meaning, end) {
            (_, End::Test) => {}
            (_, End::Declared(pattern)) => {
                if meaning == Meaning::Library
                    && place.eager
                    && !matches!(pattern, BindingPattern::BindingIdentifier(_))
                {
                    self.needed_at_load(symbol);
                }
                self.bind(pattern, meaning, place);
            }
            (Meaning::Library, _) => {}
            (_, End::Argument(function, index)) => match self.walk.outline.declared(function) {
                Some(Declared::Function(function)) => {
                    self.argument(&function.params, index, meaning, Place { unit: place.unit, eager: false });
                }
                Some(Declared::Constant(value)) => match value.without_parentheses() {
                    Expression::ArrowFunctionExpression(arrow) => {
                        self.argument(
                            &arrow.params,
                            index,
                            meaning,
                            Place { unit: place.unit, eager: false },
                        );
                    }
                    Expression::FunctionExpression(function) => {
                        self.argument(
                            &function.params,
                            index,
                            meaning,
                            Place { unit: place.unit, eager: false },
                        );
                    }
                    _ => self.lose(span),
                },
                None => self.lose(span),
            },
            (_, End::Value | End::Called | End::Written) => self.lose(span),
        }
    }

    /// A library that is not there makes the load fail.
    fn needed_at_load(&mut self, alias: SymbolId) {
        let unit = self.walk.outline.unit_of(alias);
        if unit != FILE {
            self.walk.edges.push((FILE, unit));
        }
    }

    fn argument(&mut self, params: &'a FormalParameters<'a>, index: usize, meaning: Meaning, place: Place) {
        match (params.items.get(index), &params.rest) {
            (Some(parameter), _) => self.bind(&parameter.pattern, meaning, place),
            (None, Some(rest)) => self.lose(Span::of(rest.span)),
            (None, None) => {}
        }
    }

    fn bind(&mut self, pattern: &'a BindingPattern<'a>, meaning: Meaning, place: Place) {
        let object = match pattern {
            BindingPattern::BindingIdentifier(id) => return self.push(id.symbol_id.get(), meaning),
            BindingPattern::AssignmentPattern(assignment) => {
                return self.bind(&assignment.left, meaning, place);
            }
            BindingPattern::ArrayPattern(_) if meaning == Meaning::Library => return,
            BindingPattern::ArrayPattern(array) => return self.lose(Span::of(array.span)),
            BindingPattern::ObjectPattern(object) => object,
        };
        if meaning == Meaning::Library {
            return;
        }
        for property in &object.properties {
            let span = Span::of(property.key.span());
            let name = match property.key.as_expression() {
                Some(expression) if property.computed => self.walk.outline.fold(expression),
                _ => property.key.static_name(),
            };
            match (meaning, name) {
                (_, None) => self.lose(span),
                (Meaning::Dependencies, Some(name)) if name == "libraries" => {
                    self.bind(&property.value, Meaning::Libraries, place);
                }
                (Meaning::Dependencies | Meaning::Library, Some(_)) => {}
                (Meaning::Libraries, Some(name)) => {
                    let (target, has_default) = match &property.value {
                        BindingPattern::AssignmentPattern(assignment) => (&assignment.left, true),
                        pattern => (pattern, false),
                    };
                    let unit = match target {
                        BindingPattern::BindingIdentifier(id) => {
                            let symbol = id.symbol_id.get();
                            self.push(symbol, Meaning::Library);
                            let own = symbol.map_or(FILE, |symbol| self.walk.outline.unit_of(symbol));
                            if own == FILE { place.unit } else { own }
                        }
                        _ if place.eager && !has_default => FILE,
                        _ => place.unit,
                    };
                    self.take(name, span, unit);
                }
            }
        }
        if let Some(rest) = &object.rest {
            self.bind(&rest.argument, meaning, place);
        }
    }
}
