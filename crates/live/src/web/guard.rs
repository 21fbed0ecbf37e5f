//! Who can see a served page, in words below it.

/// What keeps a page from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// It is served to its own machine alone.
    Loopback,
    /// A token, which everybody on the way can read.
    Token,
    /// A token, by TLS.
    EncryptedToken,
}

impl Guard {
    /// What a page says of it.
    pub fn words(self) -> &'static str {
        match self {
            Guard::Loopback => "Only this machine can see this page.",
            Guard::Token => {
                "Who has the token sees this page; it goes over the network as it is, without \
                 encryption."
            }
            Guard::EncryptedToken => {
                "Who has the token sees this page; it goes over the network by TLS."
            }
        }
    }
}
