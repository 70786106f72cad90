package io.eventbus.loadtest.report;

import java.util.List;
import java.util.Set;

/** A page of HTML with tables and plots: one file that needs nothing else, in light and dark. */
public final class Page {
  private static final String STYLE =
      """
      :root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--grid:#d9dee4;--soft:#5b6570;--bad:#b42318}
      @media(prefers-color-scheme:dark){:root{--ink:#e6e9ed;--paper:#14171a;--grid:#333a42;--soft:#9aa4af;--bad:#ff8a7a}}
      body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:74rem;margin:2rem auto;padding:0 1rem}
      h2{margin-top:2.5rem;border-bottom:1px solid var(--grid)}p,li{color:var(--soft)}
      .wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
      th,td{padding:.25rem .6rem;text-align:right;border-bottom:1px solid var(--grid);white-space:nowrap}th{white-space:normal;vertical-align:bottom}
      th:first-child,td:first-child,.text{text-align:left}.text{white-space:normal}.bad{color:var(--bad);font-weight:600}
      img{max-width:100%;height:auto;background:#fff;border-radius:4px}
      """;

  private final StringBuilder out = new StringBuilder();

  /** Begins a page. */
  public Page(String title) {
    out.append("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n");
    out.append("<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
    out.append(escape(title)).append("</title>\n<style>\n").append(STYLE);
    out.append("</style>\n<h1>").append(escape(title)).append("</h1>\n");
  }

  /** Writes a paragraph. */
  public void paragraph(String text) {
    out.append("<p>").append(escape(text)).append("</p>\n");
  }

  /** Writes a paragraph about what went wrong. */
  public void bad(String text) {
    out.append("<p class=\"bad\">").append(escape(text)).append("</p>\n");
  }

  /** Writes a heading. */
  public void heading(String text) {
    out.append("<h2>").append(escape(text)).append("</h2>\n");
  }

  /** Writes a heading within a part. */
  void subheading(String text) {
    out.append("<h3>").append(escape(text)).append("</h3>\n");
  }

  /**
   * Writes a table under its title; targets that were not reached stand out.
   *
   * @param section whose columns of text may take several lines, so that the figures can be seen
   */
  public void section(Section section) {
    heading(section.title());
    rows(section.rows(), section.textColumns());
  }

  /** Writes a table; targets that were not reached stand out. */
  void rows(List<List<String>> rows, int textColumns) {
    rows(rows, textColumns, Set.of(SpeedTarget.Verdict.MISSED.toString()));
  }

  /** Writes a table. */
  void rows(List<List<String>> rows, int textColumns, Set<String> bad) {
    out.append("<div class=\"wide\"><table>\n");
    String cell = "th";
    for (List<String> row : rows) {
      out.append("<tr>");
      for (int i = 0; i < row.size(); i++) {
        String kind = (i < textColumns ? "text" : "") + (bad.contains(row.get(i)) ? " bad" : "");
        out.append('<').append(cell);
        out.append(kind.isEmpty() ? ">" : " class=\"" + kind.strip() + "\">");
        out.append(escape(row.get(i)));
      }
      out.append("</tr>\n");
      cell = "td";
    }
    out.append("</table></div>\n");
  }

  /** Writes a table that is shown when it is asked for. */
  void folded(String summary, List<List<String>> rows, int textColumns) {
    out.append("<details><summary>").append(escape(summary)).append("</summary>\n");
    rows(rows, textColumns);
    out.append("</details>\n");
  }

  /** Puts a picture in. */
  public void picture(String html) {
    out.append(html);
  }

  /** Makes text safe to stand in HTML. */
  static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }

  /** Ends the page. */
  public String end() {
    return out.append("</html>\n").toString();
  }
}
