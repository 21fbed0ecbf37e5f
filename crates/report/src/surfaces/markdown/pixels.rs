//! A chart as pixels, drawn by `resvg` with the fonts of the machine.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};
use std::sync::{Arc, LazyLock};

/// Pixels for each unit of the drawing.
const SCALE: f32 = 2.0;
/// No chart of ours is longer, in pixels.
const MOST_PIXELS: f32 = 20_000.0;

/// The fonts of the machine, looked for once.
static FONTS: LazyLock<Arc<resvg::usvg::fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = resvg::usvg::fontdb::Database::new();
    fonts.load_system_fonts();
    // Where nobody said which one is meant by `sans-serif`, this one is on most machines.
    fonts.set_sans_serif_family("DejaVu Sans");
    Arc::new(fonts)
});

/// The chart as a PNG file.
pub fn draw(svg: &str) -> Result<Vec<u8>, String> {
    if FONTS.is_empty() {
        return Err("no font was found on this machine; install one, such as the package \
                    fonts-dejavu-core, or leave --png out"
            .to_owned());
    }
    let options = Options {
        fontdb: FONTS.clone(),
        font_family: "DejaVu Sans".to_owned(),
        ..Options::default()
    };
    let tree = Tree::from_str(svg, &options)
        .map_err(|error| format!("the chart cannot be drawn: {error}"))?;
    let size = tree.size();
    let (width, height) =
        ((size.width() * SCALE).min(MOST_PIXELS), (size.height() * SCALE).min(MOST_PIXELS));
    let mut pixels = Pixmap::new(width as u32, height as u32).ok_or("the chart has no size")?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| format!("the chart cannot be written as PNG: {error}"))
}
