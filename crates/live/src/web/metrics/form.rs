//! In which of the two forms of Prometheus a scrape is answered.

/// A form of the answer to a scrape
/// (<https://prometheus.io/docs/instrumenting/exposition_formats/>).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Lines of text, version 0.0.4, for everybody; histograms are classic.
    #[default]
    Text,
    /// Messages of protobuf, each behind its length; histograms are classic and native.
    Protobuf,
}

impl Form {
    /// The `Content-Type` that says so.
    pub fn content_type(self) -> &'static str {
        match self {
            Form::Text => "text/plain; version=0.0.4; charset=utf-8",
            Form::Protobuf => {
                "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; \
                 encoding=delimited"
            }
        }
    }

    /// What a request's `Accept` asks for, by the weights of RFC 9110, 12.5.1: protobuf where it is
    /// named and weighs no less than text does, else text, which is also the answer to nonsense.
    pub fn accepted(accept: &str) -> Form {
        let mut weights = [0; 2];
        for range in accept.split(',') {
            let mut parts = range.split(';').map(str::trim);
            let kind = parts.next().unwrap_or_default();
            let parameters: Vec<(&str, &str)> =
                parts.filter_map(|part| part.split_once('=')).collect();
            let is = |key: &str, value: &str| {
                let said =
                    parameters.iter().find(|(name, _)| name.trim().eq_ignore_ascii_case(key));
                said.is_some_and(|(_, said)| {
                    said.trim().trim_matches('"').eq_ignore_ascii_case(value)
                })
            };
            let place = if kind.eq_ignore_ascii_case("text/plain") {
                0
            } else if kind.eq_ignore_ascii_case("application/vnd.google.protobuf")
                && is("proto", "io.prometheus.client.MetricFamily")
                && is("encoding", "delimited")
            {
                1
            } else {
                continue;
            };
            let weight = parameters.iter().find(|(name, _)| name.trim().eq_ignore_ascii_case("q"));
            let weight = weight.map_or(1_000, |(_, text)| thousandths(text.trim()));
            weights[place] = weights[place].max(weight);
        }
        let [text, protobuf] = weights;
        if protobuf > 0 && protobuf >= text { Form::Protobuf } else { Form::Text }
    }
}

/// A weight in thousandths, 0 to 1,000; nonsense weighs nothing.
fn thousandths(text: &str) -> u32 {
    let weight =
        text.parse::<f64>().ok().filter(|weight| (0.0..=1.0).contains(weight)).unwrap_or(0.0);
    (weight * 1e3).round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROTOBUF: &str = "application/vnd.google.protobuf;proto=io.prometheus.client.\
                            MetricFamily;encoding=delimited";

    #[test]
    fn who_weighs_protobuf_no_less_than_text_gets_it() {
        let text = "application/openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.\
                    5,*/*;q=0.1";
        for (accept, form) in [
            // As Prometheus 2.42 asks, with native histograms and without.
            (format!("{PROTOBUF},{text}"), Form::Protobuf),
            (text.to_owned(), Form::Text),
            (format!("{PROTOBUF};q=0.4,{text}"), Form::Text),
            (format!("text/plain;q=0.5, {};q=0.5", PROTOBUF.to_uppercase()), Form::Protobuf),
            (format!("{PROTOBUF};q=0"), Form::Text),
        ] {
            assert_eq!(Form::accepted(&accept), form, "{accept}");
        }
    }

    #[test]
    fn everybody_else_gets_text() {
        let compact = PROTOBUF.replace("delimited", "compact-text");
        let other = PROTOBUF.replace("io.prometheus.client.", "");
        let heavy = format!("{PROTOBUF};q=7");
        for accept in [
            "",
            "*/*",
            "text/html",
            "application/vnd.google.protobuf",
            ";;=,=;q",
            &compact,
            &other,
            &heavy,
        ] {
            assert_eq!(Form::accepted(accept), Form::Text, "{accept}");
        }
    }
}
