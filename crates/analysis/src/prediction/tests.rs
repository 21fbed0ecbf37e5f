use super::calibration::{Calibration, calibrate};
use super::load::{Measured, published};
use catalogue::Cluster;
use catalogue::published::Published;

fn calibrated_c() -> Calibration {
    let cluster = Cluster::parse(
        "c",
        include_str!("../../../../reference/testbeds/vsan-four-corners.toml"),
        &[],
    )
    .expect("a good testbed");
    let figures = Published::parse(
        "c",
        include_str!("../../../../reference/results/vsan-four-corners.toml"),
    )
    .expect("good figures");
    let rows = published(&figures).rows;
    let of = |calibrates: bool| -> Vec<Measured> {
        let chosen = rows.iter().filter(|row| row.calibrates == calibrates);
        chosen.map(|row| row.row.clone()).collect()
    };
    calibrate(&cluster, &of(true), &of(false)).expect("fits")
}

#[test]
fn report_c() {
    let c = calibrated_c();
    for row in c.fitted.iter().chain(&c.held_out) {
        println!("{:40} {:10.0} {:10.0} {:10.0} {:10.0} {:+.1}% {:?} unseen {:?}", row.row.name, row.row.rate, row.predicted.value, row.predicted.low, row.predicted.high, row.error()*100.0, row.binding, row.unseen);
    }
    for p in &c.parameters { println!("{:?}", p); }
    println!("{} {} {:?}", c.fit.spread, c.fit.freedom, c.proposed);
}
