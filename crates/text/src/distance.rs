//! How alike two words are, for suggestions ("Did you mean?").
//!
//! Jaro, M. A. (1989), "Advances in record-linkage methodology", JASA 84; Winkler, W. E. (1990), "String comparator metrics and enhanced
//! decision rules in the Fellegi-Sunter model"; Levenshtein's distance by Wagner and Fischer (1974) with one row. All work on characters.

/// Jaro's similarity: 0.0 (nothing in common) to 1.0 (equal).
pub fn jaro(a: &[char], b: &[char]) -> f64 {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    // Equal characters count as a match when they are this far apart at most.
    let window = (long.len() / 2).saturating_sub(1);
    let mut taken = vec![false; long.len()];
    let mut matched = Vec::with_capacity(short.len());
    for (i, c) in short.iter().enumerate() {
        let from = i.saturating_sub(window);
        let to = (i + window + 1).min(long.len());
        if let Some(j) = (from..to).find(|j| !taken[*j] && long[*j] == *c) {
            taken[j] = true;
            matched.push(*c);
        }
    }
    if matched.is_empty() {
        return 0.0;
    }
    let others = long.iter().zip(&taken).filter(|(_, t)| **t).map(|(c, _)| *c);
    let out_of_order = matched.iter().zip(others).filter(|(x, y)| **x != *y).count();
    let m = matched.len() as f64;
    (m / short.len() as f64 + m / long.len() as f64 + (m - (out_of_order / 2) as f64) / m) / 3.0
}

/// Jaro's similarity, raised for words that begin alike (up to four characters, weight 0.1) when it is above 0.7.
pub fn jaro_winkler(a: &[char], b: &[char]) -> f64 {
    let j = jaro(a, b);
    if j <= 0.7 {
        return j;
    }
    let prefix = a.iter().zip(b).take(4).take_while(|(x, y)| x == y).count();
    j + prefix as f64 * 0.1 * (1.0 - j)
}

/// Number of characters to insert, delete or replace.
pub fn levenshtein(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + (x != y) as usize;
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// Lower case, without `@`.
pub fn normalize(word: &str) -> Vec<char> {
    word.chars().filter(|c| *c != '@').flat_map(char::to_lowercase).collect()
}

/// Indices of the words of `dictionary` that `input` may have been meant to be, the likeliest first.
pub fn corrections(dictionary: &[String], input: &str) -> Vec<usize> {
    // Longer inputs would take too long, and nobody mistypes them.
    const LONGEST: usize = 200;
    let meant = normalize(input);
    if meant.is_empty() || meant.len() > LONGEST {
        return Vec::new();
    }
    let alike = if meant.len() > 3 { 0.834 } else { 0.77 };
    let mut found: Vec<(usize, f64, Vec<char>)> = Vec::new();
    for (i, word) in dictionary.iter().enumerate() {
        if word == input || word.len() > 4 * LONGEST {
            continue;
        }
        let w = normalize(word);
        let likeness = jaro_winkler(&w, &meant);
        if likeness >= alike {
            found.push((i, likeness, w));
        }
    }
    // Stable in reverse: of equally likely ones the last comes first.
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    found.reverse();
    let edits = (meant.len() as f64 * 0.25).ceil() as usize;
    let close: Vec<usize> = found.iter().filter(|f| levenshtein(&f.2, &meant) <= edits).map(|f| f.0).collect();
    if !close.is_empty() {
        return close;
    }
    // None is a mere slip: the likeliest that has anything in common.
    found.iter().find(|f| levenshtein(&f.2, &meant) < meant.len().min(f.2.len())).map(|f| f.0).into_iter().collect()
}

#[cfg(test)]
#[path = "distance_tests.rs"]
mod tests;
