//! `oncebook show dlv_… --body`: the raw body of a delivery, as it arrived. On a terminal its control characters are shown
//! and not obeyed; in JSON every byte of it.

use std::io::Write;

use data_encoding::BASE64;
use serde_json::json;
use store::{Arrived, Store};

use super::super::table::print_json;
use super::super::{CliError, Common};
use crate::views::visible;

/// Prints the body of the delivery of that id.
pub(super) async fn print(common: &Common, store: &dyn Store, id: &str, out: &mut dyn Write) -> Result<(), CliError> {
    let list = format!("`{} deliveries` lists them", common.program());
    let Some(Arrived { items, body }) = store.delivery(id).await? else {
        return Err(CliError::Said(format!("--body goes with a delivery's id (dlv_…), and there is no delivery '{id}': {list}")));
    };
    let Some(evidence::Blob { bytes, .. }) = body else { return Err(CliError::Said(format!("the body of {id} is not kept any more"))) };
    let text = std::str::from_utf8(&bytes);
    if common.json {
        let sha256 = items.first().map(|item| item.body_sha256.to_string());
        return print_json(
            out,
            &json!({"delivery": id, "length": bytes.len(), "sha256": sha256, "base64": BASE64.encode(&bytes), "utf8": text.ok()}),
        );
    }
    match text {
        Ok(text) => writeln!(out, "{}", visible(text))?,
        Err(_) => writeln!(out, "The body is no text; as base64:\n{}", BASE64.encode(&bytes))?,
    }
    Ok(())
}
