//! The door with no book behind it: the limit of everything that comes before the book. It reads, maps and keys each delivery
//! as `serve` does, and answers it as accepted without writing a byte.

use std::io::Write;
use std::sync::Arc;

use async_trait::async_trait;
use domain::digest::{BookSecret, Digest};
use domain::ids::{EnquiryId, StreamId};
use domain::time::UtcMs;
use evidence::{Blob, Draft, Entry, Head};
use store::{
    Arrival, Arrived, Ask, Case, Delivery, Dossier, Error, Item, Leases, List, Page, Receipt, RuleVersion, Step, Store, TargetState,
    Verdict,
};
use tokio_util::sync::CancellationToken;

use super::super::{CliError, Common, outside};
use crate::app::App;

/// Serves until it is killed.
pub(super) async fn serve(common: &Common, out: &mut dyn Write) -> Result<(), CliError> {
    let outside = outside()?;
    let stream = StreamId::draw(outside.clock.now(), &*outside.entropy);
    let store = Arc::new(Storeless { stream, secret: BookSecret::new([7; 32]) });
    let app = Arc::new(App::over(common.config()?, outside, store).await?);
    let served = app.bind().await?;
    writeln!(out, "listens without a book on http://{}", served.address)?;
    out.flush()?;
    Ok(served.run(CancellationToken::new()).await?)
}

/// A store that keeps nothing.
struct Storeless {
    stream: StreamId,
    secret: BookSecret,
}

#[async_trait]
impl Store for Storeless {
    fn stream(&self) -> &StreamId {
        &self.stream
    }

    fn secret(&self) -> &BookSecret {
        &self.secret
    }

    fn dead_since(&self, _: &StreamId) -> Option<UtcMs> {
        None
    }

    async fn accept(&self, arrival: Arrival) -> Result<Receipt, Error> {
        let entered = |item: &Item| match item {
            Item::Enquiry(proposal) => {
                let key = &proposal.candidate.keys[0];
                let (enquiry, key) = (Some(key.enquiry_id()), Some(key.to_string()));
                Delivery { verdict: Verdict::Accepted, enquiry, key, ..arrival.delivery.clone() }
            }
            Item::Aside { verdict, reason } => Delivery { verdict: *verdict, reason: Some(reason.clone()), ..arrival.delivery.clone() },
        };
        Ok(Receipt { items: arrival.items.iter().map(entered).collect(), taken: Vec::new() })
    }

    async fn refuse(&self, _: Delivery, _: Blob, _: u32, _: UtcMs) -> Result<(), Error> {
        Ok(())
    }

    async fn lease(&self, _: UtcMs, _: UtcMs, _: usize) -> Result<Leases, Error> {
        Ok(Leases::default())
    }

    async fn commit(&self, _: Step) -> Result<(), Error> {
        Ok(())
    }

    async fn case(&self, _: &EnquiryId) -> Result<Option<Case>, Error> {
        Ok(None)
    }

    async fn dossier(&self, _: &EnquiryId) -> Result<Option<Dossier>, Error> {
        Ok(None)
    }

    async fn resolve(&self, _: &str) -> Result<Vec<EnquiryId>, Error> {
        Ok(Vec::new())
    }

    async fn page(&self, _: List, _: Ask) -> Result<Page, Error> {
        Err(nothing())
    }

    async fn blob(&self, _: &Digest, _: Option<&EnquiryId>) -> Result<Option<Blob>, Error> {
        Ok(None)
    }

    async fn delivery(&self, _: &str) -> Result<Option<Arrived>, Error> {
        Ok(None)
    }

    async fn journal_after(&self, _: Option<(StreamId, u64)>, _: usize) -> Result<Vec<Entry>, Error> {
        Ok(Vec::new())
    }

    async fn note(&self, _: Vec<Draft>) -> Result<Head, Error> {
        Err(nothing())
    }

    async fn rules(&self, _: &str) -> Result<Vec<RuleVersion>, Error> {
        Ok(Vec::new())
    }

    async fn adopt_rule(&self, _: &str, _: String, _: Draft) -> Result<(), Error> {
        Ok(())
    }

    async fn targets(&self) -> Result<Vec<TargetState>, Error> {
        Ok(Vec::new())
    }

    async fn prune(&self, _: UtcMs, _: UtcMs) -> Result<u64, Error> {
        Ok(0)
    }

    async fn ping(&self) -> Result<(), Error> {
        Ok(())
    }
}

fn nothing() -> Error {
    Error::Refused("there is no book".to_owned())
}
