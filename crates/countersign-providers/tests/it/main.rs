//! Reading raw responses and answering them, checked against fixtures and the official SDKs.

#[cfg(test)]
mod answering;
#[cfg(test)]
mod malformed;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod refusing;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod sdk;
#[cfg(test)]
mod tools;
