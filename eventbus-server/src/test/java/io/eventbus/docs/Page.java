package io.eventbus.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * Markdown page of the repository.
 *
 * @param path from the repository's root
 */
record Page(String path, String text) {
  static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  /** Pages with programs and commands. All of them run, unless a block says {@code not-run}. */
  private static final Predicate<String> PROGRAMS =
      Pattern.compile("README\\.md|docs/[^/]+\\.md|client-sdk/[^/]+/README\\.md")
          .asMatchPredicate();

  private static final Set<String> UNTRACKED = Set.of("target", "node_modules");

  private static final Pattern BLOCK =
      Pattern.compile("^( *)```([^\n]*)\n(.*?)^ *```$", Pattern.MULTILINE | Pattern.DOTALL);

  /** Returns all pages, sorted by path. */
  static List<Page> all() {
    List<Page> pages = new ArrayList<>();
    SimpleFileVisitor<Path> visitor =
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
            String name = String.valueOf(directory.getFileName());
            boolean skipped =
                !directory.equals(ROOT) && (name.startsWith(".") || UNTRACKED.contains(name));
            return skipped ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            if (file.toString().endsWith(".md")) {
              String path = ROOT.relativize(file).toString().replace('\\', '/');
              pages.add(new Page(path, Files.readString(file).replace("\r\n", "\n")));
            }
            return FileVisitResult.CONTINUE;
          }
        };
    try {
      Files.walkFileTree(ROOT, visitor);
    } catch (IOException e) {
      throw new UncheckedIOException(ROOT + " cannot be read", e);
    }
    pages.sort((a, b) -> a.path.compareTo(b.path));
    return pages;
  }

  /** Returns the pages whose blocks are run. */
  static List<Page> withPrograms() {
    return all().stream().filter(page -> PROGRAMS.test(page.path)).toList();
  }

  /** Returns all code blocks. */
  List<Block> blocks() {
    return BLOCK.matcher(text).results().map(this::block).toList();
  }

  /** Returns the blocks of a language that are run. */
  List<Block> blocks(String language) {
    return blocks().stream().filter(block -> block.language().equals(language)).toList();
  }

  /** Returns the text with empty lines in place of code blocks. */
  String prose() {
    return BLOCK.matcher(text).replaceAll(block -> "\n".repeat(lines(block.group())));
  }

  /** Returns the number of the line in which a place of the text or of the prose is. */
  static int line(String text, int place) {
    return 1 + lines(text.substring(0, place));
  }

  private Block block(MatchResult found) {
    // A block in a list is indented.
    String lines = found.group(3).replaceAll("(?m)^" + found.group(1), "");
    return new Block(path, line(text, found.start()), found.group(2), lines);
  }

  private static int lines(String part) {
    return (int) part.chars().filter(c -> c == '\n').count();
  }
}
