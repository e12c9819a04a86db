//! The book as it stands, read whole for the checks.

use store::memory::Memory;
use store::{Ask, Dossier, List, Rows, Store as _};

/// Every enquiry with everything about it, newest first.
pub async fn dossiers(book: &Memory) -> Vec<Dossier> {
    let (mut all, mut cursor) = (Vec::new(), None);
    loop {
        let ask = Ask { cursor, limit: 1_000, ..Ask::default() };
        let Ok(page) = book.page(List::Enquiries, ask).await else { return all };
        let Rows::Enquiries(rows) = page.rows else { return all };
        for row in rows {
            if let Ok(Some(dossier)) = book.dossier(&row.id).await {
                all.push(dossier);
            }
        }
        cursor = page.next;
        if cursor.is_none() {
            return all;
        }
    }
}
