package io.eventbus.docs;

/**
 * Code block of a page.
 *
 * @param page path from the repository's root
 * @param line number of its first line, which has the language
 * @param language all that follows the three backticks, for example "bash" or "bash not-run"
 * @param text its lines
 */
record Block(String page, int line, String language, String text) {
  /** Returns the name of a test of this block. */
  String name() {
    return page + ":" + line;
  }
}
