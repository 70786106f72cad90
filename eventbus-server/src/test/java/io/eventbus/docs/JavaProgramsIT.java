package io.eventbus.docs;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.eventbus.server.BusServer;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.samples.TestKey;
import java.io.IOException;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/**
 * Compiles the Java programs of the pages, and runs them as printed, but for the address: a bus on
 * a free port takes the place of {@code ws://localhost:8080/bus}. Each ends by itself, and its
 * client has nothing to warn of.
 */
class JavaProgramsIT {
  private static final Pattern CLASS = Pattern.compile("(?m)^public (?:final )?class (\\w+)");
  private static final int SECONDS = 60;

  private static String home = "";

  private final BusServer bus;
  private final Path directory;
  private final ListAppender<ILoggingEvent> warnings = new ListAppender<>();

  JavaProgramsIT(@TempDir Path directory) throws IOException {
    this.directory = directory;
    bus =
        BusServer.start(
            ServerConfig.of(
                Map.of(
                    "listen.host", "127.0.0.1",
                    "listen.port", "0",
                    "admin.enabled", "false",
                    "auth.resume-key-file", TestKey.FILE.toString())));
  }

  /** Sets another home: a bus that a program starts keeps a key there. */
  @BeforeAll
  static void moveHome(@TempDir Path other) {
    home = System.setProperty("user.home", other.toString());
  }

  @AfterAll
  static void restoreHome() {
    System.setProperty("user.home", home);
  }

  @AfterEach
  void stopBus() {
    bus.close();
  }

  @TestFactory
  Stream<DynamicTest> programs() {
    return Page.withPrograms().stream()
        .flatMap(page -> page.blocks("java").stream())
        .map(block -> DynamicTest.dynamicTest(block.name(), () -> run(block)));
  }

  private void run(Block block) throws Exception {
    String source = block.text().replace("ws://localhost:8080/bus", bus.uri().toString());
    Matcher declared = CLASS.matcher(source);
    assertThat(declared.find()).as("%s has a public class", block.name()).isTrue();
    String name = declared.group(1);
    Path classes = Files.createTempDirectory(directory, "classes");
    compile(block.name(), new Source(name, source), classes);
    Logger client = (Logger) LoggerFactory.getLogger("io.eventbus.client");
    warnings.list.clear();
    warnings.start();
    client.addAppender(warnings);
    try (URLClassLoader loader =
        new URLClassLoader(new URL[] {classes.toUri().toURL()}, getClass().getClassLoader())) {
      runInTime(block, loader.loadClass(name).getMethod("main", String[].class));
    } finally {
      client.detachAppender(warnings);
    }
    assertThat(warnings.list)
        .as("log of %s", block.name())
        .noneMatch(line -> line.getLevel().isGreaterOrEqual(Level.WARN));
  }

  private static void compile(String block, Source source, Path classes) {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    String classPath =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    StringWriter problems = new StringWriter();
    boolean compiled =
        compiler
            .getTask(
                problems,
                null,
                null,
                List.of("-classpath", classPath, "-d", classes.toString(), "-proc:none"),
                null,
                List.of(source))
            .call();
    assertThat(compiled).as("%s compiles: %s", block, problems).isTrue();
  }

  private static void runInTime(Block block, Method main) throws Exception {
    FutureTask<Object> task = new FutureTask<>(() -> main.invoke(null, (Object) new String[0]));
    Thread thread = new Thread(task, main.getDeclaringClass().getName());
    thread.setDaemon(true);
    thread.start();
    try {
      task.get(SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      AssertionError late =
          new AssertionError(block.name() + " has not ended within " + SECONDS + " s", e);
      late.setStackTrace(thread.getStackTrace());
      thread.interrupt();
      throw late;
    } catch (ExecutionException e) {
      Throwable cause =
          e.getCause() instanceof InvocationTargetException thrown ? thrown.getCause() : e;
      throw new AssertionError(block.name() + " throws", cause);
    }
  }

  /** Source text in memory. */
  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(String name, String text) {
      super(URI.create("string:///" + name + ".java"), Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }
}
