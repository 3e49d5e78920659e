//! A call with its identities.

use countersign_canonical::Value;

use super::{read_identifier, read_key, read_profile};
use crate::call::{Arguments, Call};
use crate::fault::{FaultCollector, Faults, Path};

impl Call {
    /// Reads `{provider, api_family, adapter_revision, response_id, call_id, operation_id, idempotency_key, name,
    /// arguments}`.
    pub fn from_value(value: &Value) -> Result<Self, Faults> {
        let mut faults = FaultCollector::new();
        let call = read_call(&Path::root(), value, &mut faults);
        faults.finish_with(call)
    }

    /// Writes the call in the form that [`Call::from_value`] reads.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let key = self
            .idempotency_key
            .as_ref()
            .map(|key| Value::from(key.as_str()));
        Value::from([
            ("provider", self.profile.provider().into()),
            ("api_family", self.profile.api_family().into()),
            ("adapter_revision", self.profile.adapter_revision().into()),
            ("response_id", self.response_id.as_str().into()),
            ("call_id", self.call_id.as_str().into()),
            ("operation_id", self.operation_id.as_str().into()),
            ("idempotency_key", key.unwrap_or_default()),
            ("name", self.name.as_str().into()),
            ("arguments", self.arguments.value().clone()),
        ])
    }
}

/// Reads a call as part of a larger document.
pub fn read_call(path: &Path, value: &Value, faults: &mut FaultCollector) -> Option<Call> {
    let members = [
        "provider",
        "api_family",
        "adapter_revision",
        "response_id",
        "call_id",
        "operation_id",
        "idempotency_key",
        "name",
        "arguments",
    ];
    let object = faults.exact_object(path, value, &members)?;
    let profile = read_profile(path, object, faults);
    let response_id = read_identifier(path, object, "response_id", faults);
    let call_id = read_identifier(path, object, "call_id", faults);
    let operation_id = read_identifier(path, object, "operation_id", faults);
    let key = read_key(path, object, faults);
    let name = read_identifier(path, object, "name", faults);
    let arguments = Arguments::new(object.get("arguments")?.clone());
    let arguments = faults.take(&path.member("arguments"), arguments);
    Some(Call {
        profile: profile?,
        response_id: response_id?,
        call_id: call_id?,
        operation_id: operation_id?,
        idempotency_key: key,
        name: name?,
        arguments: arguments?,
    })
}
