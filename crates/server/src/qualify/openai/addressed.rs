//! Whether a text speaks to a model instead of to a person.
//!
//! A guess, and used as one: what is found here sends the result to a person, what is not found is data all the same. What
//! protects is that a result decides nothing (I9).

/// Members of our own schema, as only an answer has them.
const MEMBERS: [&str; 5] = ["\"request_type\"", "\"qualified\"", "\"confidence\"", "\"reply_draft\"", "\"priority\""];
/// Pairs of words, the second not far behind the first, that are said to a model.
const WORDS: [(&str, &str); 14] = [
    ("ignore", "instructions"),
    ("ignore", "instruction"),
    ("ignore", "prompt"),
    ("disregard", "instructions"),
    ("disregard", "prompt"),
    ("forget", "instructions"),
    ("override", "instructions"),
    ("ignoriere", "anweisungen"),
    ("ignorieren", "anweisungen"),
    ("vergiss", "anweisungen"),
    ("your", "system prompt"),
    ("you are", "language model"),
    ("as an", "ai model"),
    ("du bist", "sprachmodell"),
];
/// How far the two words of a pair may stand apart, in bytes.
const APART_MAX: usize = 60;
/// Who speaks, in the transcripts that models are trained on.
const ROLES: [&str; 7] = ["system:", "assistant:", "<|im_start|>", "<|system|>", "[inst]", "<<sys>>", "### instruction"];

/// Whether the text speaks to the model.
pub(super) fn to_the_model(text: &str) -> bool {
    let lower = text.to_lowercase();
    let plain = lower.split_whitespace().collect::<Vec<_>>().join(" ");
    let answers =
        MEMBERS.iter().any(|member| plain.match_indices(member).any(|(at, _)| plain[at + member.len()..].trim_start().starts_with(':')));
    let orders = WORDS.iter().any(|(first, second)| {
        plain.match_indices(first).any(|(at, _)| {
            let behind = &plain[at + first.len()..];
            behind[..behind.floor_char_boundary(APART_MAX)].contains(second)
        })
    });
    let speaks = lower.lines().any(|line| ROLES.iter().any(|role| line.trim_start().starts_with(role)));
    answers || orders || speaks
}
