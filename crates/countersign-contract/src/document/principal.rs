//! `{tenant_id, subject_id, roles}`.

use countersign_canonical::Value;

use super::read_identifier;
use crate::fault::{FaultCollector, Faults, Path, Problem};
use crate::identifier::Role;
use crate::principal::{Principal, Roles};

impl Principal {
    /// Reads `{tenant_id, subject_id, roles}`.
    pub fn from_value(value: &Value) -> Result<Self, Faults> {
        let mut faults = FaultCollector::new();
        let principal = read_principal(&Path::root(), value, &mut faults);
        faults.finish_with(principal)
    }

    /// Writes the principal in the form that [`Principal::from_value`] reads.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let roles = self
            .roles
            .iter()
            .map(|role| Value::from(role.as_str()))
            .collect();
        Value::from([
            ("tenant_id", self.tenant_id.as_str().into()),
            ("subject_id", self.subject_id.as_str().into()),
            ("roles", Value::Array(roles)),
        ])
    }
}

/// Reads a principal as part of a larger document.
pub fn read_principal(
    path: &Path,
    value: &Value,
    faults: &mut FaultCollector,
) -> Option<Principal> {
    let object = faults.exact_object(path, value, &["tenant_id", "subject_id", "roles"])?;
    let tenant_id = read_identifier(path, object, "tenant_id", faults);
    let subject_id = read_identifier(path, object, "subject_id", faults);
    let roles = read_roles(&path.member("roles"), object.get("roles")?, faults);
    Some(Principal {
        tenant_id: tenant_id?,
        subject_id: subject_id?,
        roles: roles?,
    })
}

fn read_roles(path: &Path, value: &Value, faults: &mut FaultCollector) -> Option<Roles> {
    let Some(items) = value.as_array() else {
        faults.push(path.clone(), Problem::Expected("a list of strings"));
        return None;
    };
    let mut roles = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let role = match item.as_str() {
            Some(text) => Role::new(text).map_err(Problem::from),
            None => Err(Problem::Expected("a string")),
        };
        roles.push(faults.take(&path.index(index), role));
    }
    let roles = roles.into_iter().collect::<Option<Vec<_>>>()?;
    match Roles::new(roles) {
        Ok(roles) => Some(roles),
        Err(error) => {
            faults.push(
                path.clone(),
                Problem::ExpectedThat(error.to_string().replacen("must be ", "", 1)),
            );
            None
        }
    }
}
