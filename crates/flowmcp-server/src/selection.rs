//! Which findings `validate` shows and counts as errors: `--select`, `--allow`, `--deny`.

use anyhow::{Result, bail};
use flowmcp_spec::{Diagnostic, Severity};
use flowmcp_validate::RULES;

use crate::load::FileReport;

/// What `--deny` takes besides codes.
const WARNINGS: &str = "WARNINGS";

/// Which findings count, by codes or beginnings of codes (`SEC`, `VAL06`).
#[derive(Debug, Default)]
pub(crate) struct Selection {
    select: Vec<String>,
    allow: Vec<String>,
    deny: Vec<String>,
}

impl Selection {
    /// Takes the values of the three flags, each a code, the beginning of some, or several with commas.
    ///
    /// # Errors
    /// For what no code begins with.
    pub(crate) fn new(select: &[String], allow: &[String], deny: &[String]) -> Result<Self> {
        let (select, allow) = (codes(select, false)?, codes(allow, false)?);
        Ok(Selection { select, allow, deny: codes(deny, true)? })
    }

    /// Takes out what was not asked for, and makes errors of what is denied.
    pub(crate) fn apply(&self, files: &mut [FileReport]) {
        for file in files {
            file.diagnostics.retain(|finding| {
                (self.select.is_empty() || begins(&self.select, finding)) && !begins(&self.allow, finding)
            });
            for finding in &mut file.diagnostics {
                let denied = begins(&self.deny, finding)
                    || (finding.severity == Severity::Warning
                        && self.deny.iter().any(|code| code == WARNINGS));
                if denied {
                    finding.severity = Severity::Error;
                }
            }
        }
    }
}

fn begins(codes: &[String], finding: &Diagnostic) -> bool {
    codes.iter().any(|code| finding.code.0.starts_with(code.as_str()))
}

fn codes(values: &[String], with_warnings: bool) -> Result<Vec<String>> {
    let values = values.iter().flat_map(|value| value.split(',')).map(str::trim);
    let mut codes = Vec::new();
    for typed in values.filter(|value| !value.is_empty()) {
        let value = typed.to_ascii_uppercase();
        let known = RULES.iter().any(|rule| rule.code.0.starts_with(&value));
        let is_word = with_warnings && value == WARNINGS;
        if !known && !is_word {
            bail!(no_code(typed, with_warnings.then_some("warnings")));
        }
        codes.push(value);
    }
    Ok(codes)
}

/// The message for a code that no rule has, with the nearest one; `or` can be given instead of a code.
pub(crate) fn no_code(wanted: &str, or: Option<&'static str>) -> String {
    let all = RULES.iter().map(|rule| rule.code.0).chain(or);
    let upper = wanted.to_ascii_uppercase();
    let nearest = all.min_by_key(|known| strsim::damerau_levenshtein(&upper, &known.to_ascii_uppercase()));
    format!("there is no code {wanted:?}; did you mean {}?", nearest.unwrap_or_default())
}

/// How often each code occurs, the most frequent first, a line each.
pub(crate) fn by_code(files: &[FileReport]) -> Vec<String> {
    let mut counts = std::collections::BTreeMap::<(&str, Severity), usize>::new();
    for finding in files.iter().flat_map(|file| &file.diagnostics) {
        *counts.entry((finding.code.0, finding.severity)).or_default() += 1;
    }
    let mut rows: Vec<_> = counts.into_iter().collect();
    rows.sort_by_key(|((code, severity), count)| (std::cmp::Reverse(*count), *code, *severity));
    let line = |((code, severity), count): &((&str, Severity), usize)| {
        let title =
            RULES.iter().find(|rule| rule.code.0 == *code).map(|rule| rule.title()).unwrap_or_default();
        format!("{count:>6}  {:<7}  {code}  {title}", severity.as_str())
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use flowmcp_spec::Code;

    use super::*;

    fn applied(select: &str, allow: &str, deny: &str) -> String {
        let list = |text: &str| vec![text.to_owned()];
        let finding = |code: &'static str, severity| Diagnostic {
            severity,
            ..Diagnostic::error(Code(code), "main", "x")
        };
        let mut files = [FileReport {
            path: "a.mjs".into(),
            source: None,
            unreadable: None,
            diagnostics: vec![
                finding("VAL011", Severity::Error),
                finding("VAL060", Severity::Warning),
                finding("SEC001", Severity::Error),
                finding("TST001", Severity::Hint),
            ],
        }];
        Selection::new(&list(select), &list(allow), &list(deny)).unwrap().apply(&mut files);
        let shown = |finding: &Diagnostic| format!("{}:{}", finding.code.0, finding.severity.as_str());
        files[0].diagnostics.iter().map(shown).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn flags_choose_by_code_and_by_beginning() {
        for (flags, expected) in [
            (("", "", ""), "VAL011:error VAL060:warning SEC001:error TST001:hint"),
            (("val", "", ""), "VAL011:error VAL060:warning"),
            (("SEC001, TST", "", ""), "SEC001:error TST001:hint"),
            (("", "VAL06,SEC", ""), "VAL011:error TST001:hint"),
            (("VAL", "VAL011", ""), "VAL060:warning"),
            (("", "", "warnings"), "VAL011:error VAL060:error SEC001:error TST001:hint"),
            (("", "", "TST001"), "VAL011:error VAL060:warning SEC001:error TST001:error"),
        ] {
            assert_eq!(applied(flags.0, flags.1, flags.2), expected, "{flags:?}");
        }
    }

    #[test]
    fn an_unknown_code_names_the_nearest() {
        let said = |values: &[&str], deny: &[&str]| {
            let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
            Selection::new(&texts(values), &[], &texts(deny)).unwrap_err().to_string()
        };
        assert_eq!(said(&["sec0012"], &[]), "there is no code \"sec0012\"; did you mean SEC001?");
        assert_eq!(said(&["warnings"], &[]).split(';').next(), Some("there is no code \"warnings\""));
        assert_eq!(said(&[], &["warning"]), "there is no code \"warning\"; did you mean warnings?");
    }
}
