//! Server parameters (API keys and the like) from an env file and from the process environment.
//!
//! The form of the file: one `NAME=value` a line; blank lines and lines that begin with `#` count for nothing;
//! `export ` before a name is accepted. A plain value ends at a `#` after a space. A value in single quotes is taken as
//! it stands; in double quotes `\n`, `\r`, `\t`, `\\`, `\"` and `\$` are escapes. Variables are not expanded: a key that
//! holds a `$` must arrive as it was issued, and a file must not reach into the environment.

use std::{
    collections::BTreeMap,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use flowmcp_plugin::Secret;

use crate::config::Config;

/// Largest env file.
const LARGEST_FILE: u64 = 1 << 20;

/// Why there are no server parameters. No text shows a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamsError {
    /// The file cannot be read.
    #[error("{}: cannot read the env file: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Cause.
        reason: String,
    },
    /// A line that is not `NAME=value`.
    #[error("{}:{line}: {reason}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A value with a character that no header or URL may hold.
    #[error("{place}: the value of {name} contains a control character ({character}); remove it")]
    ControlCharacter {
        /// The file and line, or the environment.
        place: String,
        /// Name of the parameter.
        name: String,
        /// Name of the character.
        character: String,
    },
}

/// All server parameters: those of `params.env_file`, then those that `params.from_env` names, which win. An empty
/// variable of the environment counts as unset. The second part is warnings.
///
/// # Errors
/// [`ParamsError`] when the file cannot be used or a value contains a control character.
pub fn server_params(
    config: &Config,
    environment: &BTreeMap<String, String>,
) -> Result<(BTreeMap<String, Secret>, Vec<String>), ParamsError> {
    let (mut params, warnings) = match &config.params.env_file {
        Some(path) => read(path)?,
        None => Default::default(),
    };
    for name in &config.params.from_env {
        let Some(value) = environment.get(name).filter(|value| !value.is_empty()) else { continue };
        refuse_control_characters(name, value, || "environment".to_owned())?;
        params.insert(name.clone(), Secret::new(value.as_str()));
    }
    Ok((params, warnings))
}

/// Reads an env file; the second part is warnings.
///
/// # Errors
/// [`ParamsError`] when it cannot be read, is larger than 1 MiB, is not UTF-8, or has a wrong line.
pub fn read(path: &Path) -> Result<(BTreeMap<String, Secret>, Vec<String>), ParamsError> {
    let refuse = |reason: String| ParamsError::Read { path: path.to_owned(), reason };
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LARGEST_FILE + 1).read_to_end(&mut bytes))
        .map_err(|error| refuse(error.to_string()))?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(refuse(format!("it is larger than {LARGEST_FILE} bytes")));
    }
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| refuse("it is not UTF-8 text; save it as UTF-8".to_owned()))?;
    parse(path, text)
}

/// Parses the text of an env file; `path` is for messages, the second part of the result is warnings.
///
/// # Errors
/// [`ParamsError`] for the first wrong line.
pub fn parse(path: &Path, text: &str) -> Result<(BTreeMap<String, Secret>, Vec<String>), ParamsError> {
    let mut params: BTreeMap<String, (Secret, usize)> = BTreeMap::new();
    let mut warnings = Vec::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (index, line) in text.split('\n').enumerate() {
        let line_number = index + 1;
        let line = line.strip_suffix('\r').unwrap_or(line);
        let Some((name, value)) = assignment(line).map_err(|reason| ParamsError::Line {
            path: path.to_owned(),
            line: line_number,
            reason,
        })?
        else {
            continue;
        };
        refuse_control_characters(name, &value, || format!("{}:{line_number}", path.display()))?;
        if let Some((_, earlier)) = params.insert(name.to_owned(), (Secret::new(value), line_number)) {
            warnings.push(format!(
                "{}:{line_number}: {name} is set again and replaces the value of line {earlier}",
                path.display()
            ));
        }
    }
    Ok((params.into_iter().map(|(name, (value, _))| (name, value)).collect(), warnings))
}

/// Name and value of a line; `None` for a blank line or a comment.
fn assignment(line: &str) -> Result<Option<(&str, String)>, &'static str> {
    // Not `trim`: it would also take away a carriage return, which must be noticed.
    let line = line.trim_matches(BLANK);
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let (name, value) = line.split_once('=').ok_or("must be NAME=value")?;
    let name = name.trim_end_matches(BLANK);
    let name = match name.strip_prefix("export") {
        Some(rest) if rest.starts_with(BLANK) => rest.trim_start_matches(BLANK),
        _ => name,
    };
    let good = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if name.is_empty() || !name.bytes().all(good) {
        return Err("the name before = must consist of letters, digits, _, - and .");
    }
    let value = match value.trim_start_matches(BLANK) {
        quoted if quoted.starts_with('\'') => single_quoted(quoted)?,
        quoted if quoted.starts_with('"') => double_quoted(quoted)?,
        _ => plain(value).to_owned(),
    };
    Ok(Some((name, value)))
}

const BLANK: [char; 2] = [' ', '\t'];

/// Up to a `#` that follows a blank: `a#b` is a value, `a #b` is a value and a comment.
fn plain(value: &str) -> &str {
    let comment = value
        .match_indices('#')
        .map(|(at, _)| at)
        .find(|at| value.get(..*at).is_some_and(|before| before.ends_with(BLANK)));
    comment.and_then(|at| value.get(..at)).unwrap_or(value).trim_matches(BLANK)
}

const UNCLOSED: &str = "a quote is opened and not closed on this line";

fn single_quoted(quoted: &str) -> Result<String, &'static str> {
    let (value, rest) = quoted.strip_prefix('\'').and_then(|text| text.split_once('\'')).ok_or(UNCLOSED)?;
    nothing_but_comment(rest)?;
    Ok(value.to_owned())
}

fn double_quoted(quoted: &str) -> Result<String, &'static str> {
    let mut value = String::new();
    let mut rest = quoted.chars();
    rest.next();
    loop {
        match rest.next().ok_or(UNCLOSED)? {
            '"' => break,
            '\\' => value.push(match rest.next().ok_or(UNCLOSED)? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                same @ ('\\' | '"' | '$') => same,
                _ => {
                    return Err(
                        r#"an unknown escape in double quotes; use \\ for a backslash, or single quotes"#,
                    );
                }
            }),
            other => value.push(other),
        }
    }
    nothing_but_comment(rest.as_str())?;
    Ok(value)
}

fn nothing_but_comment(rest: &str) -> Result<(), &'static str> {
    let rest = rest.trim_matches(BLANK);
    if rest.is_empty() || rest.starts_with('#') {
        Ok(())
    } else {
        Err("there is text after the closing quote")
    }
}

fn refuse_control_characters(
    name: &str,
    value: &str,
    place: impl FnOnce() -> String,
) -> Result<(), ParamsError> {
    // A tab may stand in a header value (RFC 9110, section 5.5).
    let Some(found) = value.chars().find(|c| c.is_control() && *c != '\t') else { return Ok(()) };
    let character = match found {
        '\n' => "line feed".to_owned(),
        '\r' => "carriage return".to_owned(),
        '\0' => "NUL".to_owned(),
        other => format!("U+{:04X}", u32::from(other)),
    };
    Err(ParamsError::ControlCharacter { place: place(), name: name.to_owned(), character })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str)]) {
        let (params, warnings) = parse(Path::new(".env"), text).unwrap();
        let found: Vec<_> = params.iter().map(|(name, value)| (name.as_str(), value.expose())).collect();
        assert_eq!((found.as_slice(), warnings), (expected, Vec::new()), "{text:?}");
    }

    #[test]
    fn lines_are_read() {
        // sec-04
        check(
            "\u{feff}DEMO_KEY=abc123\r\n#comment\r\nOTHER=\"x y\"\r\n",
            &[("DEMO_KEY", "abc123"), ("OTHER", "x y")],
        );
        check("", &[]);
        check("\n  # only\n\t\n", &[]);
        check("A=1", &[("A", "1")]);
        check("export A=1\nexport\tB = 2 ", &[("A", "1"), ("B", "2")]);
        check("exported=1", &[("exported", "1")]);
        check("A=", &[("A", "")]);
        check("A= # none\nB=#all\nC=a#b #c", &[("A", ""), ("B", "#all"), ("C", "a#b")]);
        check("A=a=b==", &[("A", "a=b==")]);
        check("A='a \"b\" \\n $X #c' # d", &[("A", "a \"b\" \\n $X #c")]);
        check(r#"A="a \"b\" \\ \$X #c""#, &[("A", r#"a "b" \ $X #c"#)]);
        check("A=\"\"\nB=''", &[("A", ""), ("B", "")]);
        check("A=$HOME/${X}", &[("A", "$HOME/${X}")]);
        check("A=\"a\\tb\"", &[("A", "a\tb")]);
        check("a.b-c_1=ü", &[("a.b-c_1", "ü")]);
        check("A=it's", &[("A", "it's")]);
    }

    #[track_caller]
    fn refuse(text: &str, expected: &str) {
        let error = parse(Path::new(".env"), text).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert!(!format!("{error:?}").contains("s3cr3t"), "{error:?}");
    }

    #[test]
    fn wrong_lines_are_named_without_their_text() {
        refuse("A=1\ns3cr3t", ".env:2: must be NAME=value");
        let name = "the name before = must consist of letters, digits, _, - and .";
        refuse("=s3cr3t", &format!(".env:1: {name}"));
        refuse("s3cr3t key=1", &format!(".env:1: {name}"));
        refuse("A='s3cr3t", ".env:1: a quote is opened and not closed on this line");
        refuse("A=\"s3cr3t\\", ".env:1: a quote is opened and not closed on this line");
        refuse("A=\"s3cr3t\\\"", ".env:1: a quote is opened and not closed on this line");
        refuse("A='s3cr3t'x", ".env:1: there is text after the closing quote");
        refuse(
            "A=\"s3cr3t\\q\"",
            r".env:1: an unknown escape in double quotes; use \\ for a backslash, or single quotes",
        );
    }

    #[test]
    fn control_characters_are_refused_by_name() {
        let refused =
            |name: &str| format!(".env:1: the value of A contains a control character ({name}); remove it");
        refuse("A=s3cr3t\rB=2", &refused("carriage return"));
        refuse("A=s3cr3t\r\r\n", &refused("carriage return"));
        refuse("A=\"s3cr3t\\n\"", &refused("line feed"));
        refuse("A='s3cr3t\0'", &refused("NUL"));
        refuse("A=s3cr3t\u{1b}", &refused("U+001B"));
    }

    #[test]
    fn the_last_of_two_wins_with_a_warning() {
        let (params, warnings) = parse(Path::new(".env"), "A=1\nB=2\nA=3\n").unwrap();
        assert_eq!(params["A"].expose(), "3");
        assert_eq!(warnings, [".env:3: A is set again and replaces the value of line 1"]);
    }
}
