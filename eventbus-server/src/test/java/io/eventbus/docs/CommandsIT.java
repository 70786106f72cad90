package io.eventbus.docs;

import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the commands of the pages: the blocks of a page one after the other, as a reader would, and
 * the pages at the same time.
 */
class CommandsIT {
  /** Pages that start many processes. */
  private static final List<String> LONG = List.of("docs/runbook.md", "docs/security.md");

  /** Page for a bus that stores events. */
  private static final String DURABLE = "docs/durable.md";

  private final Path directory;
  private final ExecutorService readers = Executors.newCachedThreadPool();
  private final List<Shell> shells = new ArrayList<>();

  CommandsIT(@TempDir Path directory) {
    this.directory = directory;
  }

  @AfterEach
  void end() throws IOException {
    readers.shutdownNow();
    for (Shell shell : shells) {
      shell.close();
    }
  }

  @TestFactory
  List<DynamicTest> shortPages() throws IOException {
    return tests(page -> !LONG.contains(page.path()));
  }

  @TestFactory
  @Tag("nightly")
  List<DynamicTest> longPages() throws IOException {
    return tests(page -> LONG.contains(page.path()));
  }

  private List<DynamicTest> tests(Predicate<Page> chosen) throws IOException {
    List<DynamicTest> tests = new ArrayList<>();
    for (Page page : Page.withPrograms()) {
      List<Block> blocks = page.blocks("bash");
      if (chosen.test(page) && !blocks.isEmpty()) {
        Shell shell = shell(page);
        shells.add(shell);
        CompletableFuture<Void> last = CompletableFuture.completedFuture(null);
        for (Block block : blocks) {
          CompletableFuture<Void> before = last;
          CompletableFuture<Void> run = before.thenRunAsync(() -> run(shell, block), readers);
          tests.add(DynamicTest.dynamicTest(block.name(), () -> await(before, run)));
          last = run;
        }
      }
    }
    return tests;
  }

  private Shell shell(Page page) throws IOException {
    Path place = Files.createTempDirectory(directory, "page");
    return page.path().equals(DURABLE)
        ? new Shell(place, Map.of("durable.directory", place.resolve("data").toString()))
        : new Shell(place, Map.of());
  }

  private static void run(Shell shell, Block block) {
    try {
      shell.run(block);
    } catch (IOException e) {
      throw new UncheckedIOException(block.name(), e);
    } catch (InterruptedException e) {
      throw new CompletionException(e);
    }
  }

  /** Waits for a block; it is left out if one before it on its page has failed. */
  private static void await(CompletableFuture<Void> before, CompletableFuture<Void> run)
      throws Throwable {
    assumeFalse(before.isCompletedExceptionally(), "a block before it on its page has failed");
    try {
      run.join();
    } catch (CompletionException e) {
      throw e.getCause() == null ? e : e.getCause();
    }
  }
}
