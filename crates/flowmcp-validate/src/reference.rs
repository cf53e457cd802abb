//! The codes of the public FlowMCP specification 3.0.0, and which rule here covers each of them.
//!
//! Most codes mean the same here. Where chapters give one code two meanings, or two codes one meaning, one of them is
//! taken and the others are listed in [`EXCEPTIONS`].

use crate::rules::rule;

/// Every code that a chapter of the specification gives to a check, as `FAMILY first-last`.
pub const CODES: &[(&str, u16, u16)] = &[
    ("VAL", 1, 5),
    ("VAL", 10, 18),
    ("VAL", 20, 26),
    ("VAL", 30, 37),
    ("VAL", 40, 50),
    ("VAL", 60, 65),
    ("VAL", 70, 75),
    ("RES", 1, 29),
    ("SKL", 1, 18),
    ("SKL", 20, 25),
    ("DEP", 1, 4),
    ("SEC", 1, 13),
    ("SEC", 100, 104),
    ("SEC", 200, 204),
    ("LST", 1, 11),
    ("AGT", 1, 20),
    ("PRM", 1, 13),
    ("CAT", 1, 7),
    ("ID", 1, 6),
    ("PH", 1, 4),
    ("TST", 1, 13),
];

/// A code of the specification that is no rule of that code here.
#[derive(Debug)]
pub struct Exception {
    /// The specification's code.
    pub code: &'static str,
    /// The rule that covers it, if one does.
    pub rule: Option<&'static str>,
    /// Why, or what covers it instead.
    pub note: &'static str,
}

const fn covered(code: &'static str, rule: &'static str, note: &'static str) -> Exception {
    Exception { code, rule: Some(rule), note }
}

const fn elsewhere(code: &'static str, note: &'static str) -> Exception {
    Exception { code, rule: None, note }
}

/// All codes that are called otherwise here, or that no rule can check.
pub const EXCEPTIONS: &[Exception] = &[
    covered("VAL026", "SEC020", "one code for libraries that the host lacks"),
    covered(
        "VAL047",
        "VAL044",
        "a list in another type than enum is an argument that the type does not take",
    ),
    covered("RES022", "TST004", "tests of tools and queries are checked alike"),
    covered("RES023", "TST005", "tests of tools and queries are checked alike; what is no data is SEC017"),
    covered("RES029", "RES001", "RES001 to RES005, and for queries RES008 to RES012"),
    covered("DEP001", "SKL005", "the same check"),
    covered("DEP002", "SKL006", "the same check"),
    covered("DEP003", "SKL020", "the same check"),
    covered("DEP004", "SKL021", "the same check"),
    covered("SEC010", "SEC004", "`new Function` is one of the spellings of `Function`"),
    covered("SEC013", "SEC020", "one code for libraries that the host lacks"),
    covered(
        "SEC100",
        "SEC012",
        "found before the first call; at run time the sandbox has no `fetch` without the grant",
    ),
    elsewhere("SEC101", "seen when a hook returns: the call fails, naming tool and hook"),
    elsewhere(
        "SEC102",
        "seen when it happens: shared lists are frozen, and writing to one throws a TypeError",
    ),
    covered("SEC103", "SEC020", "one code for libraries that the host lacks"),
    covered("SEC201", "SEC200", "one code for all code in lists"),
    covered("SEC202", "SEC200", "one code for all code in lists"),
    covered("SEC203", "SEC017", "a text with an expression in it is no literal"),
    covered("SEC204", "SEC001", "SEC001 to SEC016 are checked in lists, skills, prompts and agents, too"),
    covered("LST001", "VAL001", "one code for files without a known export"),
    covered("PRM009", "PH002", "the same check"),
    covered("AGT011", "ID001", "the same check"),
    covered("ID006", "CAT010", "no field of registry.json holds an ID; its fields are checked"),
    covered("TST009", "AGT009", "the same check"),
    covered("TST010", "AGT010", "the same check"),
    covered("TST011", "ID001", "the same check"),
    covered("TST012", "AGT012", "the same check"),
];

/// Where a code means one thing in one chapter and another in the next: which meaning is taken.
pub const CONFLICTS: &[(&str, &str)] = &[
    (
        "VAL060 to VAL065",
        "the output, as in chapter 09; chapter 11's rules about `preload` are VAL080 to VAL085",
    ),
    ("RES001 to RES029", "as in chapter 13; chapter 09 has an earlier numbering"),
    (
        "SEC001 to SEC011",
        "as in chapter 05; chapter 09's SEC002 is SEC017, its SEC003 and SEC004 are SEC200, its SEC005 is SEC020",
    ),
    ("TST001", "a warning, and for queries one test is enough (RES012), as in chapter 13"),
    ("PH002", "a warning, as in chapter 14"),
    ("PRM010 to PRM011", "`content` and `contentFile` are read for both kinds of prompt"),
    (
        "VAL003, VAL007, VAL012",
        "chapter 08 uses numbers of an earlier version; those of chapter 09 are taken",
    ),
];

/// The rule that covers a code of the specification which is called otherwise here.
pub fn covering(code: &str) -> Option<&'static str> {
    EXCEPTIONS.iter().find(|exception| exception.code.eq_ignore_ascii_case(code)).and_then(|found| found.rule)
}

/// All codes of the specification.
pub fn codes() -> impl Iterator<Item = String> {
    CODES
        .iter()
        .flat_map(|(family, first, last)| (*first..=*last).map(move |number| format!("{family}{number:03}")))
}

/// How many codes of the specification are rules of that code here.
pub fn same() -> usize {
    codes().filter(|code| rule(code).is_some()).count()
}
