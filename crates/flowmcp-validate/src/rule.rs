//! What a rule is: a code, how bad breaking it is, what that blocks, its page, and how it is checked.

use flowmcp_spec::{Code, Node, Schema, Severity};

use crate::{fields::Field, findings::Findings, pack::Surroundings, rules::code::Names, subject::Subject};

/// One rule of the format.
#[derive(Debug)]
pub struct Rule {
    /// Its code, the same in messages, pages and configuration.
    pub code: Code,
    /// How bad breaking it is; the worst, where it depends on the case (its page says so then).
    pub severity: Severity,
    /// What breaking it keeps from being served; the most, where it depends on the case.
    pub blocks: Scope,
    /// Chapter of the public FlowMCP specification 3.0.0 that it belongs to.
    pub chapter: &'static str,
    /// Its page: what, why, wrong and right.
    pub page: &'static str,
    pub(crate) check: Check,
}

/// How much a finding of a rule blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Nothing.
    Nothing,
    /// The tool that it is about.
    Tool,
    /// The whole file.
    File,
}

/// The step of the main path that reports a rule's findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// `flowmcp_spec::read`.
    Reading,
    /// `flowmcp_spec::lower`.
    Lowering,
    /// [`check`](crate::check).
    Rule,
    /// [`check_pack`](crate::check_pack), where the other files of the pack are known.
    Pack,
    /// The engine, where the pack's shared lists are known.
    Activation,
    /// The engine, where handlers are run (`validate --handlers`).
    Running,
}

/// How a rule is checked.
#[derive(Debug)]
pub(crate) enum Check {
    /// Reading reports it.
    Reading,
    /// Lowering reports what it parses.
    Lowering,
    /// Activation reports it.
    Activation,
    /// Running the handlers reports it.
    Running,
    /// Lowering reports what it parses; shapes that it passes over are a function's part.
    LoweringAnd(fn(&Subject<'_>, &mut Findings<'_>)),
    /// Rows of "field X must be Y".
    Fields(&'static [Field]),
    /// A function over a schema.
    Schema(fn(&Subject<'_>, &mut Findings<'_>)),
    /// A function over a schema and its typed model, of which only whole tools are a part.
    Lowered(fn(&Subject<'_>, &Schema, &mut Findings<'_>)),
    /// A function over a shared list.
    List(fn(&Subject<'_>, &mut Findings<'_>)),
    /// A function over any file.
    Any(fn(&Subject<'_>, &mut Findings<'_>)),
    /// Names that code must not reach.
    Names(Names),
    /// A function over one member of a pack and what is around it.
    Pack(fn(&Surroundings<'_>, usize, &mut Findings<'_>)),
    /// One file tells a part, its pack the rest.
    AndPack(&'static Check, fn(&Surroundings<'_>, usize, &mut Findings<'_>)),
    /// A function over `registry.json`, or over a pack that has none.
    Registry(fn(&Surroundings<'_>, Option<&Node>, &mut Findings<'_>)),
}

impl Rule {
    /// What it asks for, in one line: the heading of its page.
    pub fn title(&self) -> &'static str {
        let heading = self.page.lines().next().unwrap_or_default();
        heading.split_once(": ").map_or(heading, |(_, title)| title)
    }

    /// The step that reports it.
    pub fn emitted_by(&self) -> Stage {
        match self.check {
            Check::Reading => Stage::Reading,
            Check::Lowering | Check::LoweringAnd(_) => Stage::Lowering,
            Check::Activation => Stage::Activation,
            Check::Running => Stage::Running,
            Check::Pack(_) | Check::Registry(_) => Stage::Pack,
            _ => Stage::Rule,
        }
    }
}
