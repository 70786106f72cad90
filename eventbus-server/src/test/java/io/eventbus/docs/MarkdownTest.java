package io.eventbus.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** All Markdown pages of the repository. */
class MarkdownTest {
  private static final int WIDTH = 160;
  private static final int CHANGES = 40;

  private static final Pattern LINK =
      Pattern.compile(
          "\\]\\(([^)\\s]+)(?: \"[^\"]*\")?\\)|(?m:^\\[[^]]+]: (\\S+))|(?:src|href)=\"([^\"]+)\"");

  private static final Pattern CODE = Pattern.compile("`[^`\n]*`");
  private static final Pattern ELSEWHERE = Pattern.compile("[a-z]+:.*");
  private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} +(.*?) *#*$");
  private static final Pattern MARK = Pattern.compile("(?:id|name)=\"([^\"]+)\"");

  /** Row of the package table, of which {@code PackageTable} expects that it is one line. */
  private static final Pattern PACKAGE =
      Pattern.compile("\\| (?:`[\\w/-]+` )?\\| `[\\w.]+` \\| .*");

  private static final Pattern LONG_TEXT = Pattern.compile(" *\"\\w+\": \"\\S+\"[,}]*");

  private static final Set<String> LANGUAGES =
      Set.of("avdl", "hex", "ini", "json", "properties", "text", "xml", "yaml");

  private static final Set<String> PROGRAMS = Set.of("bash", "java", "js", "python");

  private final Map<String, Page> pages =
      Page.all().stream().collect(Collectors.toMap(Page::path, Function.identity()));

  private final Map<String, Set<String>> anchors = new HashMap<>();

  @Test
  void linksLeadSomewhere() {
    List<String> wrong = new ArrayList<>();
    for (Page page : pages.values()) {
      String prose = CODE.matcher(page.prose()).replaceAll("");
      LINK.matcher(prose)
          .results()
          .filter(link -> !leadsSomewhere(page, target(link)))
          .map(link -> page.path() + ":" + Page.line(prose, link.start()) + " " + target(link))
          .forEach(wrong::add);
    }
    assertThat(wrong).isEmpty();
  }

  /**
   * Tables that are generated, and the package table, may have longer lines, and so may a text in
   * JSON that cannot be broken.
   */
  @Test
  void linesAreShort() {
    List<String> wrong = new ArrayList<>();
    for (Page page : pages.values()) {
      if (page.path().equals("README.md") || page.path().startsWith("docs/")) {
        boolean generated = false;
        List<String> lines = page.text().lines().toList();
        for (int i = 0; i < lines.size(); i++) {
          String line = lines.get(i);
          if (line.startsWith("<!-- begin:") || line.startsWith("<!-- end")) {
            generated = line.startsWith("<!-- begin:");
          }
          int width = line.codePointCount(0, line.length());
          boolean free =
              generated
                  || LONG_TEXT.matcher(line).matches()
                  || (page.path().equals("docs/architecture.md")
                      && PACKAGE.matcher(line).matches());
          if (width > WIDTH && !free) {
            wrong.add(page.path() + ":" + (i + 1) + " has " + width + " characters");
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  @Test
  void theNextVersionHasFewChanges() {
    String changelog = page("CHANGELOG.md").text();
    String heading = "## Unreleased\n";
    assertThat(changelog).contains(heading);
    String next = changelog.substring(changelog.indexOf(heading) + heading.length());
    assertThat(next.split("\n## ", -1)[0].lines()).hasSizeLessThanOrEqualTo(CHANGES);
  }

  /** A block with another name for its language would not be run. */
  @Test
  void blocksHaveKnownLanguages() {
    Stream<Block> blocks = Page.withPrograms().stream().flatMap(page -> page.blocks().stream());
    assertThat(
            blocks
                .filter(block -> !isKnown(block.language()))
                .map(block -> block.name() + " " + block.language()))
        .isEmpty();
  }

  private static boolean isKnown(String language) {
    return LANGUAGES.contains(language)
        || PROGRAMS.contains(language.replaceFirst(" not-run$", ""));
  }

  private static String target(MatchResult link) {
    return Stream.of(1, 2, 3)
        .flatMap(group -> Stream.ofNullable(link.group(group)))
        .findFirst()
        .orElseThrow();
  }

  private boolean leadsSomewhere(Page page, String target) {
    if (ELSEWHERE.matcher(target).matches()) {
      return true;
    }
    String[] parts = target.split("#", 2);
    Path folder = Page.ROOT.resolve(page.path()).resolveSibling("");
    Path file =
        parts[0].isEmpty() ? Page.ROOT.resolve(page.path()) : folder.resolve(parts[0]).normalize();
    if (!Files.exists(file)) {
      return false;
    }
    String path = Page.ROOT.relativize(file).toString().replace('\\', '/');
    return parts.length == 1
        || !pages.containsKey(path)
        || anchors.computeIfAbsent(path, key -> anchors(page(key))).contains(parts[1]);
  }

  private Page page(String path) {
    Page page = pages.get(path);
    if (page == null) {
      throw new AssertionError("no page " + path);
    }
    return page;
  }

  /** Returns the anchors that GitHub gives to headings, and those that the page has itself. */
  private static Set<String> anchors(Page page) {
    Set<String> anchors = new HashSet<>();
    Map<String, Integer> repeated = new HashMap<>();
    String prose = page.prose();
    HEADING
        .matcher(prose)
        .results()
        .map(heading -> anchor(heading.group(1)))
        .forEach(
            anchor -> {
              int before = repeated.merge(anchor, 1, Integer::sum) - 1;
              anchors.add(before == 0 ? anchor : anchor + "-" + before);
            });
    MARK.matcher(prose).results().forEach(mark -> anchors.add(mark.group(1)));
    return anchors;
  }

  private static String anchor(String heading) {
    return heading
        .replaceAll("!?\\[([^]]*)]\\([^)]*\\)", "$1")
        .replaceAll("<[^>]+>", "")
        .toLowerCase(Locale.ROOT)
        .replaceAll("[^\\p{L}\\p{M}\\p{N}_\\- ]", "")
        .replace(' ', '-');
  }
}
