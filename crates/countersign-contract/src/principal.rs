//! Who a call is made for.

use crate::identifier::{Role, SubjectId, TenantId};

/// The most roles a principal may have.
pub const MAX_ROLES: usize = 32;

/// Why a list of roles is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RolesError {
    /// More than [`MAX_ROLES`].
    #[error("must have at most {MAX_ROLES} items")]
    TooMany,
    /// Not ascending by code point, or a role twice.
    #[error("must be sorted and contain no duplicates")]
    NotSortedUnique,
}

/// A principal's roles: sorted by code point, unique, at most 32.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Roles(Vec<Role>);

impl Roles {
    /// Takes the roles when they are sorted, unique and not too many.
    pub fn new(roles: Vec<Role>) -> Result<Self, RolesError> {
        if roles.len() > MAX_ROLES {
            return Err(RolesError::TooMany);
        }
        if roles.is_sorted_by(|left, right| left < right) {
            Ok(Self(roles))
        } else {
            Err(RolesError::NotSortedUnique)
        }
    }

    /// The roles, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Role> {
        self.0.iter()
    }

    /// Tells whether the principal has the role.
    #[must_use]
    pub fn contains(&self, role: &str) -> bool {
        self.0.iter().any(|held| held.as_str() == role)
    }
}

impl<'a> IntoIterator for &'a Roles {
    type Item = &'a Role;
    type IntoIter = std::slice::Iter<'a, Role>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The authenticated party a call is made for. Roles authorize; they are bound in no digest.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Principal {
    /// The tenant.
    pub tenant_id: TenantId,
    /// The subject within the tenant.
    pub subject_id: SubjectId,
    /// The subject's roles.
    pub roles: Roles,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_sorted_unique_and_bounded() {
        let roles = |names: &[&str]| {
            Roles::new(names.iter().map(|name| Role::new(name).unwrap()).collect())
        };
        assert!(roles(&[]).is_ok());
        assert!(roles(&["B", "a"]).unwrap().contains("a"));
        assert_eq!(roles(&["a", "B"]), Err(RolesError::NotSortedUnique));
        assert_eq!(roles(&["a", "a"]), Err(RolesError::NotSortedUnique));
        let many: Vec<Role> = (0..33)
            .map(|n| Role::new(format!("{n:02}")).unwrap())
            .collect();
        assert!(Roles::new(many[..32].to_vec()).is_ok());
        assert_eq!(Roles::new(many), Err(RolesError::TooMany));
    }
}
