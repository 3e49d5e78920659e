//! What must hold before a body is even read: credential, media type, length.
//!
//! The order is fixed: authentication, media type, length, availability (the
//! server's affair), authority, and only then the request itself.

use std::collections::BTreeSet;

use crate::identifier::Owner;
use crate::parser::REQUEST_MAX_BYTES;
use crate::refusal::Refusal;

/// The only principal that may put or observe actions.
pub const WORKER_PRINCIPAL: &str = "host-action-worker";
/// The scopes of that principal's credential: these, and no others.
pub const WORKER_SCOPES: [&str; 2] = ["actions:execute", "actions:verify"];
/// The only media type of a request.
pub const REQUEST_MEDIA_TYPE: &str = "application/json";

/// What an authenticated credential says of its holder.
#[derive(Debug, Clone)]
pub struct Credential<'credential> {
    /// The principal.
    pub principal: &'credential str,
    /// The scopes.
    pub scopes: &'credential [&'credential str],
    /// The owners that it is bound to.
    pub owners: &'credential [Owner],
}

/// Proof that a caller is the host's action worker for one owner.
///
/// Only [`Worker::authorize`] makes one, and deciding anything needs one.
#[derive(Debug, Clone)]
pub struct Worker {
    owner: Owner,
}

impl Worker {
    /// Checks an authenticated credential, and the principal that the request's header names, if it names one.
    pub fn authorize(
        credential: &Credential<'_>,
        named_principal: Option<&str>,
    ) -> Result<Self, Refusal> {
        if named_principal.is_some_and(|named| named != credential.principal) {
            return Err(Refusal::PrincipalMismatch);
        }
        let scopes: BTreeSet<_> = credential.scopes.iter().copied().collect();
        let [owner] = credential.owners else {
            return Err(Refusal::AuthorityDenied);
        };
        if credential.principal != WORKER_PRINCIPAL || scopes != BTreeSet::from(WORKER_SCOPES) {
            return Err(Refusal::AuthorityDenied);
        }
        Ok(Self {
            owner: owner.clone(),
        })
    }

    /// The owner that the credential is bound to.
    pub fn owner(&self) -> &Owner {
        &self.owner
    }
}

/// A request body as it comes in: bounded before it is whole.
#[derive(Debug, Default)]
pub struct RequestBody {
    bytes: Vec<u8>,
}

impl RequestBody {
    /// Checks the headers of a PUT: its media type, then its declared length, if any.
    pub fn open(content_type: Option<&str>, content_length: Option<&str>) -> Result<Self, Refusal> {
        if !content_type.is_some_and(is_request_media_type) {
            return Err(Refusal::Invalid);
        }
        if let Some(declared) = content_length {
            check_declared_length(declared)?;
        }
        Ok(Self::default())
    }

    /// Adds bytes; refuses as soon as there are too many.
    pub fn push(&mut self, chunk: &[u8]) -> Result<(), Refusal> {
        if chunk.len() > REQUEST_MAX_BYTES - self.bytes.len() {
            return Err(Refusal::TooLarge);
        }
        self.bytes.extend_from_slice(chunk);
        Ok(())
    }

    /// All bytes so far.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Parameters are ignored, as JSON has none that matter; the type itself compares without case.
fn is_request_media_type(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default();
    essence
        .trim_matches([' ', '\t'])
        .eq_ignore_ascii_case(REQUEST_MEDIA_TYPE)
}

/// Only digits make a length; any number of them beyond the bound is too large.
fn check_declared_length(declared: &str) -> Result<(), Refusal> {
    if declared.is_empty() || !declared.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Refusal::ContentLengthInvalid);
    }
    match declared.parse::<usize>() {
        Ok(length) if length <= REQUEST_MAX_BYTES => Ok(()),
        Ok(_) | Err(_) => Err(Refusal::TooLarge),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_worker_credential_passes() {
        let owner = |name| Owner::parse(name).expect("an owner");
        let one = [owner("colony")];
        let two = [owner("colony"), owner("other")];
        let exact: &[&str] = &["actions:verify", "actions:execute"];
        let more: &[&str] = &["actions:verify", "actions:execute", "actions:admin"];
        let judge = |principal, scopes, owners, named| {
            Worker::authorize(
                &Credential {
                    principal,
                    scopes,
                    owners,
                },
                named,
            )
            .map(|worker| worker.owner.clone())
        };
        assert_eq!(
            judge(WORKER_PRINCIPAL, exact, &one, None),
            Ok(owner("colony"))
        );
        assert_eq!(
            judge(WORKER_PRINCIPAL, exact, &one, Some(WORKER_PRINCIPAL)),
            Ok(owner("colony"))
        );
        assert_eq!(
            judge(WORKER_PRINCIPAL, exact, &one, Some("owner")),
            Err(Refusal::PrincipalMismatch)
        );
        assert_eq!(
            judge(WORKER_PRINCIPAL, exact, &one, Some("")),
            Err(Refusal::PrincipalMismatch)
        );
        assert_eq!(
            judge("owner", exact, &one, None),
            Err(Refusal::AuthorityDenied)
        );
        assert_eq!(
            judge(WORKER_PRINCIPAL, &["actions:execute"], &one, None),
            Err(Refusal::AuthorityDenied)
        );
        assert_eq!(
            judge(WORKER_PRINCIPAL, more, &one, None),
            Err(Refusal::AuthorityDenied)
        );
        assert_eq!(
            judge(WORKER_PRINCIPAL, exact, &[], None),
            Err(Refusal::AuthorityDenied)
        );
        assert_eq!(
            judge(WORKER_PRINCIPAL, exact, &two, None),
            Err(Refusal::AuthorityDenied)
        );
    }

    #[test]
    fn media_type_comes_before_length() {
        let open = |content_type, length| RequestBody::open(content_type, length).map(|_| ());
        for good in [
            "application/json",
            "Application/JSON",
            "application/json; charset=utf-8",
            " application/json ;x",
        ] {
            assert_eq!(open(Some(good), Some("32768")), Ok(()), "{good}");
        }
        for bad in [
            None,
            Some(""),
            Some("text/plain"),
            Some("application/jsonp"),
            Some("application/problem+json"),
        ] {
            assert_eq!(open(bad, Some("x")), Err(Refusal::Invalid), "{bad:?}");
        }
        let json = Some(REQUEST_MEDIA_TYPE);
        assert_eq!(open(json, None), Ok(()));
        assert_eq!(open(json, Some("0")), Ok(()));
        for large in ["32769", "99999999999999999999999999"] {
            assert_eq!(open(json, Some(large)), Err(Refusal::TooLarge), "{large}");
        }
        for bad in ["", "-1", "+1", "1 ", "1,1", "0x10", "１"] {
            assert_eq!(
                open(json, Some(bad)),
                Err(Refusal::ContentLengthInvalid),
                "{bad}"
            );
        }
    }

    #[test]
    fn a_streamed_body_is_refused_at_the_byte_that_is_too_many() {
        let mut body = RequestBody::default();
        assert_eq!(body.push(&vec![b' '; 32_000]), Ok(()));
        assert_eq!(body.push(&[b' '; 768]), Ok(()));
        assert_eq!(body.push(&[]), Ok(()));
        assert_eq!(body.push(b" "), Err(Refusal::TooLarge));
        assert_eq!(body.as_bytes().len(), REQUEST_MAX_BYTES);
    }
}
