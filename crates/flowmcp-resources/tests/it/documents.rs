//! Markdown documents as files.

use std::{fs, os::unix::fs::symlink};

use flowmcp_resources::{Document, DocumentLimits, FileKind, Part, locate};
use flowmcp_spec::schema::{Origin, ResourceFile};

use crate::scene::{Scene, soon, wait};

fn check(scene: &Scene, name: &str, part: Part, limits: DocumentLimits) -> String {
    let file = ResourceFile { origin: Origin::Inline, path: name.into() };
    let location = match locate(&file, FileKind::Document, &scene.folders) {
        Ok(location) => location,
        Err(error) => return format!("error: {error}"),
    };
    match wait(Document::new(location, limits).read(part, soon())) {
        Ok(excerpt) => format!("{}{}", excerpt.text, excerpt.notes.join("")),
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn documents_are_read_within_their_folder_and_limits() {
    let scene = Scene::new();
    let put =
        |name: &str, bytes: &[u8]| fs::write(scene.at("pack/demo/resources").join(name), bytes).unwrap();
    put("a.md", b"\xef\xbb\xbf# A\r\ntext\r\n");
    put("latin.md", b"caf\xe9");
    put("large.md", &[b'x'; 200]);
    fs::write(scene.at("secret.md"), "secret").unwrap();
    symlink(scene.at("secret.md"), scene.at("pack/demo/resources/away.md")).unwrap();
    fs::write(scene.at("pack/.env"), "KEY=secret").unwrap();
    let limits = DocumentLimits { file: 100, part: 1000 };
    for (name, expected) in [
        ("a.md", "# A\ntext\n"),
        (
            "none.md",
            "error: the document demo/resources/none.md is missing: put it there, it is found without a restart",
        ),
        (
            "latin.md",
            "error: demo/resources/latin.md is not UTF-8 text (first bad byte at offset 3): save it as UTF-8",
        ),
        (
            "large.md",
            "error: demo/resources/large.md has 200 bytes, more than the 100 that a document may have: split it",
        ),
        (
            "away.md",
            "error: demo/resources/away.md leads to a file outside of its folder, which is not allowed: put the file itself there",
        ),
        ("../../.env", "error: \"../../.env\" cannot be the file of a resource: it has a `..`"),
        (".env", "error: \".env\" cannot be the file of a resource: documents end in .md"),
    ] {
        assert_eq!(check(&scene, name, Part::Whole, limits), expected, "{name}");
    }
    let section = Part::new(Some("# B"), None, None).unwrap();
    assert_eq!(
        check(&scene, "a.md", section, limits),
        "error: section: there is no heading \"# B\"; there are \"# A\""
    );
}

#[test]
fn a_changed_document_is_read_again() {
    let scene = Scene::new();
    let path = scene.at("pack/demo/resources/a.md");
    let file = ResourceFile { origin: Origin::Inline, path: "a.md".into() };
    let location = locate(&file, FileKind::Document, &scene.folders).unwrap();
    let document = Document::new(location, DocumentLimits::default());
    assert!(document.problem().is_some());
    for text in ["one", "another", "the third"] {
        fs::write(&path, text).unwrap();
        assert_eq!(wait(document.read(Part::Whole, soon())).unwrap().text, text);
    }
}
