//! Formats requirements as lines of a prompt.

use crate::domain::test_plan::analysis::Requirement;

/// Formats requirements for a prompt, one per line.
pub fn requirement_lines(list: &[&Requirement]) -> String {
    list.iter()
        .map(|one| {
            let values = if one.given.is_empty() && one.expect.is_empty() {
                String::new()
            } else {
                format!("; given: {}; expect: {}", one.given, one.expect)
            };
            format!("{} {} (line {}): {}{values}\n", one.id, one.layer, one.line, one.text)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_is_one_line_with_its_id_and_values() {
        let analysis = crate::domain::test_plan::analysis::samples::analysis(1, 2);
        let list: Vec<&Requirement> = analysis.files[0].requirements.iter().collect();
        let lines = requirement_lines(&list);
        assert_eq!(lines.lines().count(), 2, "{lines}");
        for (line, one) in lines.lines().zip(list) {
            assert!(line.starts_with(&one.id) && line.contains(&one.expect), "{line}");
        }
        assert_eq!(requirement_lines(&[]), "");
    }
}
