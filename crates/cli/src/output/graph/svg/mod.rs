//! A picture as SVG: drawn here, so that nothing else has to be installed. Dark on light, whatever shows it.
//!
//! - [`node`]: boxes. [`edge`]: lines. [`legend`]: what colours and lines mean. [`font`]: how wide words are.
//!
//! It must not decide where boxes stand; [`layout`](super::layout) does.

mod edge;
mod font;
mod legend;
mod node;

use super::escape::xml;
use super::layout::{Link, Shape, layout};
use super::{Meaning, Node, Picture, Size, State};
use crate::output::style::{Style, count};

/// Around everything.
const MARGIN: f64 = 28.0;
/// What the title takes.
const HEAD: f64 = 58.0;
/// A title and a legend need this.
const WIDTH_LEAST: f64 = 560.0;
const TITLE_SIZE: f64 = 19.0;
const FAMILY: &str = "Inter, 'Segoe UI', 'Helvetica Neue', Helvetica, 'DejaVu Sans', Arial, sans-serif";

/// The picture of at most so many resources, with the numbers of all of them.
pub(crate) fn svg(picture: Picture, size: Size) -> String {
    let dying = dying(&picture);
    draw(&picture.limited(size), dying)
}

/// Draws all resources of a picture.
fn draw(picture: &Picture, dying: Option<String>) -> String {
    let links = picture.links();
    let shape = Shape {
        widths: picture.nodes.iter().map(node::width).collect(),
        links: links.iter().map(|link| standing(*link)).collect(),
    };
    let laid = layout(&shape);
    let width = (laid.width + 2.0 * MARGIN).max(WIDTH_LEAST).ceil();
    let legend = legend::legend(picture, &links, width - 2.0 * MARGIN);
    let top = MARGIN + HEAD;
    let legend_top = top + laid.height + if picture.nodes.is_empty() { 0.0 } else { MARGIN + 4.0 };
    let height = (legend_top + legend.height + MARGIN).ceil();
    // A picture that is narrower than its title stands in the middle of it.
    let left = ((width - laid.width) / 2.0).max(MARGIN).round();
    let mut out = String::new();
    out.push_str(&begin(picture, dying, width, height));
    out.push_str(&format!("<g transform=\"translate({left} {top})\">\n"));
    let ports = edge::Ports::new(&links, &laid.routes);
    for (link, route) in links.iter().zip(&laid.routes) {
        out.push_str(&edge::draw(picture, *link, route.as_ref(), &ports));
    }
    for (place, (node, area)) in picture.nodes.iter().zip(&laid.boxes).enumerate() {
        let own = links.iter().any(|(from, to, _)| *from == place && *to == place);
        out.push_str(&node::draw(node, *area, own));
    }
    out.push_str("</g>\n");
    out.push_str(&format!(
        "<g transform=\"translate({MARGIN} {legend_top})\">\n{}</g>\n</svg>\n",
        legend.text
    ));
    out
}

/// An edge as a link between columns. Owners, containers and objects that are destroyed later are on the left: objects
/// further right are destroyed first.
fn standing((from, to, meaning): (usize, usize, Meaning)) -> Link {
    match meaning {
        Meaning::Owns => Link { left: from, right: to, class: 0 },
        Meaning::Inside => Link { left: to, right: from, class: 1 },
        Meaning::DiesBefore { dropped: false } => Link { left: to, right: from, class: 2 },
        Meaning::DiesBefore { dropped: true } => Link { left: to, right: from, class: 3 },
    }
}

fn begin(picture: &Picture, dying: Option<String>, width: f64, height: f64) -> String {
    let room = width - 2.0 * MARGIN;
    let title = font::fit(&picture.title, TITLE_SIZE, room);
    let drawn = if picture.more > 0 { " drawn" } else { "" };
    let subtitle = [Some(format!("{}{drawn}", picture.counted())), dying];
    let subtitle = subtitle.into_iter().flatten().collect::<Vec<_>>().join(Style::PLAIN.dot());
    let subtitle = font::fit(&subtitle, 13.0, room);
    let (whole, title, subtitle) = (xml(&picture.title), xml(&title), xml(&subtitle));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" font-family=\"{FAMILY}\">\n\
         <title>{whole}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"14\" fill=\"#fbfcfe\"/>\n\
         <text x=\"{MARGIN}\" y=\"{}\" font-size=\"{TITLE_SIZE}\" font-weight=\"700\" fill=\"#0f172a\">{title}</text>\n\
         <text x=\"{MARGIN}\" y=\"{}\" font-size=\"13\" fill=\"#64748b\">{subtitle}</text>\n",
        MARGIN + 17.0,
        MARGIN + 38.0,
    )
}

/// `5 die in 3 waves`, of all resources, also of those that are not drawn.
fn dying(picture: &Picture) -> Option<String> {
    let order = |node: &Node| if let State::Doomed { order } = node.state { Some(order) } else { None };
    let orders: Vec<usize> = picture.nodes.iter().filter_map(order).collect();
    let waves = orders.iter().collect::<std::collections::BTreeSet<_>>().len();
    match (orders.len(), waves) {
        (0, _) => None,
        (1, _) => Some("1 dies".to_owned()),
        (dying, 1) => Some(format!("{} die at once", count(dying))),
        (dying, waves) => Some(format!("{} die in {} waves", count(dying), count(waves))),
    }
}
