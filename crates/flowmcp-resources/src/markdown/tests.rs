use super::*;

const TEXT: &str = "\u{feff}# Guide\r\nIntro\r\n\r\n## Functions `f()`\r\nOne\r\n```sh\r\n# not a heading\r\n```\r\n\
                    ### Inner\r\nTwo\r\n\r\nTypes\r\n-----\r\nThree\r\n## Functions f()\r\nAgain\r\n";

fn check(
    text: &str,
    section: Option<&str>,
    lines: Option<&str>,
    search: Option<&str>,
    limit: usize,
) -> String {
    let part = Part::new(section, lines, search);
    match part.and_then(|part| excerpt(&plain(text), &part, limit)) {
        Ok(Excerpt { text, notes }) => {
            let notes: String = notes.iter().map(|note| format!("[{note}]\n")).collect();
            format!("{text}{notes}")
        }
        Err(error) => format!("error: {error}\n"),
    }
}

#[test]
fn sections_end_where_the_next_one_of_their_level_begins() {
    let section = |wanted| check(TEXT, Some(wanted), None, None, 1000);
    let all = [
        "## Functions f()",
        "functions f()",
        "### Inner",
        "Inner",
        "Types",
        "# Guide",
        "# Inner",
        "not a heading",
        "##",
        "#hash",
    ];
    let shown: Vec<String> = all.iter().map(|wanted| format!("=== {wanted}\n{}", section(wanted))).collect();
    insta::assert_snapshot!(shown.join(""));
}

#[test]
fn lines_are_counted_from_one_to_the_end() {
    let lines = |wanted| check(TEXT, None, Some(wanted), None, 1000);
    let all =
        ["1-2", "2", " 14 - 99 ", "15", "16", "0-3", "5-4", "a-b", "-3", "3-", "", "99999999999999999999"];
    let shown: Vec<String> = all.iter().map(|wanted| format!("=== {wanted}\n{}", lines(wanted))).collect();
    insta::assert_snapshot!(shown.join(""));
}

#[test]
fn a_search_shows_two_lines_around_each_match() {
    let search = |wanted| check(TEXT, None, None, Some(wanted), 1000);
    let all = ["one", "FUNCTIONS", "t", "nothing of the kind", " "];
    let shown: Vec<String> = all.iter().map(|wanted| format!("=== {wanted}\n{}", search(wanted))).collect();
    insta::assert_snapshot!(shown.join(""));
    let many = "match\n".repeat(60);
    assert!(check(&many, None, None, Some("match"), 1 << 20).ends_with(
        "[cut: 50 of 60 matching lines shown. For the rest, search for a longer text or ask for lines]\n"
    ));
    assert!(check(&many, None, None, Some("match"), 100).contains("[cut: 10 of 60 matching lines"));
    assert_eq!(check(&"é".repeat(3000), None, None, Some("é"), 1 << 20).len(), 3 + 2000 + "…\n".len());
}

#[test]
fn what_is_too_long_is_cut_at_a_line() {
    let whole = |limit| check("# A\nbb\nccc\n", None, None, None, limit);
    assert_eq!(whole(11), "# A\nbb\nccc\n");
    let note = |shown, line| {
        format!(
            "[cut: {shown} of 11 bytes shown, up to line {line} of the document. For the rest, ask for a section, for lines or for a search]\n"
        )
    };
    assert_eq!(whole(10), format!("# A\nbb\n{}", note(7, 2)));
    assert_eq!(whole(5), format!("# A\n{}", note(4, 1)));
    assert_eq!(
        check("éé", None, None, None, 3).lines().next(),
        Some(
            "é[cut: 2 of 4 bytes shown, up to line 1 of the document. For the rest, ask for a section, for lines or for a search]"
        )
    );
    assert_eq!(
        check("a", Some("x"), Some("1"), None, 9),
        "error: only one of section, lines and search can be given at a time\n"
    );
}

proptest::proptest! {
    #[test]
    fn no_text_and_no_part_panics(text in "[a-c#`\\-\n\r \u{e9}>=*]{0,80}", wanted in "[a-c# `*]{0,6}", from in 1_usize..9, more in 0_usize..5, limit in 0_usize..100) {
        let text = plain(&text);
        for part in [Part::Whole, Part::Section(wanted.clone()), Part::Search(wanted), Part::Lines { from, to: from + more }] {
            if let Ok(excerpt) = excerpt(&text, &part, limit) {
                proptest::prop_assert!(excerpt.text.len() <= limit);
            }
        }
    }
}
