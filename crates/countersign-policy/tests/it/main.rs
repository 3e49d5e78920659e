//! Integration tests: rule books as people write them, and the proofs that come of them.

#[cfg(test)]
mod call;
#[cfg(test)]
mod faulty_books;
#[cfg(test)]
mod guide;
#[cfg(test)]
mod proofs;
#[cfg(test)]
mod rule_book;
