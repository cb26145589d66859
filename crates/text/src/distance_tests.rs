use super::*;

fn chars(s: &str) -> Vec<char> {
    s.chars().collect()
}

#[test]
fn jaro_of_the_literature() {
    // Winkler's own examples.
    for (a, b, j, w) in [
        ("MARTHA", "MARHTA", 0.9444, 0.9611),
        ("DWAYNE", "DUANE", 0.8222, 0.84),
        ("DIXON", "DICKSONX", 0.7667, 0.8133),
        ("abc", "xyz", 0.0, 0.0),
    ] {
        assert!((jaro(&chars(a), &chars(b)) - j).abs() < 1e-4, "{a} {b}");
        assert!((jaro_winkler(&chars(a), &chars(b)) - w).abs() < 1e-4, "{a} {b}");
    }
    assert_eq!(jaro(&[], &chars("a")), 0.0);
    assert_eq!(jaro(&chars("same"), &chars("same")), 1.0);
}

#[test]
fn edits() {
    for (a, b, n) in [("kitten", "sitting", 3), ("", "abc", 3), ("abc", "", 3), ("flaw", "lawn", 2), ("same", "same", 0)] {
        assert_eq!(levenshtein(&chars(a), &chars(b)), n, "{a} {b}");
    }
}

#[test]
fn suggestions() {
    let words: Vec<String> = ["first_name", "last_name", "Zakuro", "@counter"].map(String::from).to_vec();
    assert_eq!(corrections(&words, "frist_name"), [0]);
    assert_eq!(corrections(&words, "zakuor"), [2]);
    assert_eq!(corrections(&words, "@countr"), [3]);
    assert!(corrections(&words, "unrelated").is_empty());
    assert!(corrections(&words, "last_name").is_empty(), "an exact word is no correction");
    assert!(corrections(&words, "").is_empty());
}
