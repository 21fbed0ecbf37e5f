//! Reads what stands behind `sim:` in a target.

use super::preset::PRESETS;
use super::quantity::{clip, parse_bytes, parse_count, parse_ns, parse_rate};
use crate::spec::{Cache, Credits, DeviceSpec, ErrorRate, Flash, Service, Stall};
use model::errno::number_of;
use model::{Bytes, Op, Percent};

/// Longer than any device that [`DeviceSpec::check`] accepts needs in practice.
const MOST_TEXT: usize = 65_536;
const KEYS: &str = "service, mean, read, write, fsync, servers, capacity, bandwidth, iops, \
                    credits, flash, flash-block, flash-state, cache, cache-write, cache-line, \
                    destage, stall and error";
const SERVICE_REMEDY: &str =
    "write 100us, constant:100us, exponential:50us, lognormal:80us:0.5 or empirical:10us*90:1ms*10";

impl DeviceSpec {
    /// Reads a device from text: a preset, then parameters as `key=value`, separated by commas and
    /// applied in their order, for example
    /// `exponential,mean=50us,servers=8,cache=1GiB@20us,stall=5s+2s,error=read:EIO:100ppm`.
    ///
    /// # Errors
    /// A sentence that says what is wrong, where, and what to write instead.
    pub fn parse(text: &str) -> Result<DeviceSpec, String> {
        if text.len() > MOST_TEXT {
            return Err(format!(
                "a device of {} characters is too long; write up to {MOST_TEXT}",
                text.len()
            ));
        }
        let (name, parameters) = text.split_once(',').unwrap_or((text, ""));
        let mut spec = preset(name.trim())?;
        apply(&mut spec, parameters)?;
        spec.check()?;
        Ok(spec)
    }
}

fn preset(name: &str) -> Result<DeviceSpec, String> {
    let Some(preset) = PRESETS.iter().find(|preset| preset.name == name) else {
        let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        return Err(format!(
            "`{}` is not a simulated device; begin with one of {}",
            clip(name),
            names.join(", ")
        ));
    };
    let mut spec = blank();
    apply(&mut spec, PRESETS[0].parameters)?;
    if preset.name != PRESETS[0].name {
        apply(&mut spec, preset.parameters)?;
    }
    Ok(spec)
}

/// Nothing yet: the first preset says every part that a device must have.
fn blank() -> DeviceSpec {
    DeviceSpec {
        capacity: Bytes(0),
        parallelism: 0,
        read_service: Service::Constant(0),
        write_service: Service::Constant(0),
        fsync_service: Service::Constant(0),
        bandwidth_bytes_per_s: None,
        iops_limit: None,
        credits: None,
        flash: None,
        cache: None,
        stalls: Vec::new(),
        errors: Vec::new(),
    }
}

fn apply(spec: &mut DeviceSpec, parameters: &str) -> Result<(), String> {
    let mut seen: Vec<&str> = Vec::new();
    for parameter in parameters.split(',').map(str::trim).filter(|parameter| !parameter.is_empty())
    {
        let (key, value) = parameter.split_once('=').ok_or_else(|| {
            format!("`{}` is not a parameter; write key=value, with one of {KEYS}", clip(parameter))
        })?;
        let (key, value) = (key.trim(), value.trim());
        set(spec, key, value).map_err(|message| format!("{}: {message}", clip(parameter)))?;
        if !matches!(key, "stall" | "error") {
            if seen.contains(&key) {
                return Err(format!("`{key}` is given twice; write it once"));
            }
            seen.push(key);
        }
    }
    Ok(())
}

fn set(spec: &mut DeviceSpec, key: &str, value: &str) -> Result<(), String> {
    match key {
        "service" => set_services(spec, &parse_service(value)?),
        "mean" => set_services(spec, &Service::Exponential { mean_ns: parse_ns(value)? }),
        "read" => spec.read_service = parse_service(value)?,
        "write" => spec.write_service = parse_service(value)?,
        "fsync" => spec.fsync_service = parse_service(value)?,
        "servers" => spec.parallelism = parse_count(value)?,
        "capacity" => spec.capacity = parse_bytes(value)?,
        "bandwidth" => spec.bandwidth_bytes_per_s = unless_none(value, parse_rate)?,
        "iops" => spec.iops_limit = unless_none(value, parse_count)?,
        "credits" => spec.credits = unless_none(value, parse_credits)?,
        "flash" => spec.flash = unless_none(value, parse_flash)?,
        "flash-block" => flash_of(spec)?.block = parse_bytes(value)?,
        "flash-state" => flash_of(spec)?.used = parse_state(value)?,
        "cache" => spec.cache = unless_none(value, parse_cache)?,
        "cache-write" => cache_of(spec)?.write_service = parse_service(value)?,
        "cache-line" => cache_of(spec)?.line = parse_bytes(value)?,
        "destage" => cache_of(spec)?.destage_bytes_per_s = unless_none(value, parse_rate)?,
        "stall" => spec.stalls.push(parse_stall(value)?),
        "error" => spec.errors.push(parse_error(value)?),
        _ => return Err(format!("there is no such parameter; there are {KEYS}")),
    }
    Ok(())
}

fn set_services(spec: &mut DeviceSpec, service: &Service) {
    spec.read_service = service.clone();
    spec.write_service = service.clone();
    spec.fsync_service = service.clone();
}

fn unless_none<T>(
    value: &str,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Option<T>, String> {
    if value == "none" { Ok(None) } else { parse(value).map(Some) }
}

fn cache_of(spec: &mut DeviceSpec) -> Result<&mut Cache, String> {
    spec.cache
        .as_mut()
        .ok_or_else(|| "there is no cache yet; write cache=SIZE@SERVICE before it".to_owned())
}

fn flash_of(spec: &mut DeviceSpec) -> Result<&mut Flash, String> {
    spec.flash
        .as_mut()
        .ok_or_else(|| "there is no flash yet; write flash=SPARE@SPEED before it".to_owned())
}

/// `100000@3000`: how many tokens, and how many come in each second.
fn parse_credits(value: &str) -> Result<Credits, String> {
    let (size, per_s) = value.split_once('@').ok_or_else(|| {
        "credits have a number and a number that comes in each second; write for example \
         credits=100000@3000"
            .to_owned()
    })?;
    Ok(Credits { size: parse_count(size)?, per_s: parse_count(per_s)? })
}

/// `28%@400MiB/s`: the spare, and how fast pages are written.
fn parse_flash(value: &str) -> Result<Flash, String> {
    const REMEDY: &str = "write for example flash=28%@400MiB/s";
    let (spare, speed) = value
        .split_once('@')
        .ok_or_else(|| format!("flash has a spare share and a speed; {REMEDY}"))?;
    let spare = spare
        .parse::<Percent>()
        .map_err(|_| format!("`{}` is not a share up to 100%; {REMEDY}", clip(spare)))?;
    Ok(Flash { spare, program_bytes_per_s: parse_rate(speed)?, block: Bytes::mib(1), used: false })
}

/// What flash begins as.
fn parse_state(value: &str) -> Result<bool, String> {
    match value {
        "new" => Ok(false),
        "used" => Ok(true),
        _ => Err(format!("`{}` is no state of flash; write new or used", clip(value))),
    }
}

fn parse_service(value: &str) -> Result<Service, String> {
    let Some((kind, rest)) = value.split_once(':') else {
        return parse_ns(value)
            .map(Service::Constant)
            .map_err(|message| format!("{message}, or {SERVICE_REMEDY}"));
    };
    match kind {
        "constant" => Ok(Service::Constant(parse_ns(rest)?)),
        "exponential" => Ok(Service::Exponential { mean_ns: parse_ns(rest)? }),
        "lognormal" => {
            let (median, sigma) = rest
                .split_once(':')
                .ok_or_else(|| format!("a lognormal service lacks its sigma; {SERVICE_REMEDY}"))?;
            let sigma = sigma.parse().map_err(|_| {
                format!("`{}` is not a sigma; write 0 to 4, such as 0.5", clip(sigma))
            })?;
            Ok(Service::Lognormal { median_ns: parse_ns(median)?, sigma })
        }
        "empirical" => {
            rest.split(':').map(parse_point).collect::<Result<_, _>>().map(Service::Empirical)
        }
        _ => Err(format!("`{}` is not a distribution; {SERVICE_REMEDY}", clip(kind))),
    }
}

/// A time with a weight, or with the weight 1: `10us*90`, `10us`.
fn parse_point(text: &str) -> Result<(u64, u32), String> {
    let (ns, weight) = text.split_once('*').unwrap_or((text, "1"));
    Ok((parse_ns(ns)?, parse_count(weight)?))
}

fn parse_cache(value: &str) -> Result<Cache, String> {
    let (size, service) = value.split_once('@').ok_or_else(|| {
        "a cache has a size and a service time; write for example cache=1GiB@20us".to_owned()
    })?;
    let service = parse_service(service)?;
    Ok(Cache {
        size: parse_bytes(size)?,
        line: Bytes::kib(4),
        read_service: service.clone(),
        write_service: service,
        destage_bytes_per_s: None,
    })
}

fn parse_stall(value: &str) -> Result<Stall, String> {
    let (at, length) = value.split_once('+').ok_or_else(|| {
        "a stall has a beginning and a length; write for example stall=5s+2s".to_owned()
    })?;
    Ok(Stall { at_ns: parse_ns(at)?, length_ns: parse_ns(length)? })
}

fn parse_error(value: &str) -> Result<ErrorRate, String> {
    const REMEDY: &str = "write for example error=read:EIO:100ppm, or 1% for the rate";
    let mut parts = value.split(':');
    let (Some(op), Some(errno), Some(rate), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(format!("an error has an operation, an errno and a rate; {REMEDY}"));
    };
    let op = Op::from_name(op)
        .ok_or_else(|| format!("`{}` is not read, write, fsync or trim; {REMEDY}", clip(op)))?;
    let errno =
        number_of(errno).ok_or_else(|| format!("`{}` is not an errno; {REMEDY}", clip(errno)))?;
    let ppm = match rate.strip_suffix("ppm") {
        Some(ppm) => parse_count(ppm.trim())?,
        None if rate.ends_with('%') => {
            rate.parse::<Percent>()
                .map_err(|_| format!("`{}` is not 0% to 100%; {REMEDY}", clip(rate)))?
                .ppm
        }
        None => return Err(format!("the rate `{}` has no unit; {REMEDY}", clip(rate))),
    };
    Ok(ErrorRate { op, errno, ppm })
}
