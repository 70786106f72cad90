package io.eventbus.server.secret;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.eventbus.server.BusServer;
import io.eventbus.server.config.ConfigException;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.session.ResumeKey;
import io.eventbus.server.session.TestResumes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

class ResumeKeysTest {
  private static final byte[] SHARED = bytes(1, 32);

  private final ListAppender<ILoggingEvent> log = new ListAppender<>();
  private final Logger logger = (Logger) LoggerFactory.getLogger(ResumeKeys.class);

  private final Path home;

  ResumeKeysTest(@TempDir Path home) {
    this.home = home;
  }

  @BeforeEach
  void listen() {
    log.start();
    logger.addAppender(log);
  }

  @AfterEach
  void listenNoMore() {
    logger.detachAppender(log);
  }

  private static byte[] bytes(long seed, int count) {
    byte[] bytes = new byte[count];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private List<String> warnings() {
    return log.list.stream()
        .filter(e -> e.getLevel() == Level.WARN)
        .map(ILoggingEvent::getFormattedMessage)
        .toList();
  }

  private static ServerConfig config(String... settings) {
    Map<String, String> values = new java.util.HashMap<>(Map.of("admin.port", "0"));
    for (int i = 0; i < settings.length; i += 2) {
      values.put(settings[i], settings[i + 1]);
    }
    return ServerConfig.of(values);
  }

  private ResumeKey alone(Path where) {
    return ResumeKeys.find(config(), Optional::empty, where);
  }

  private static Path own(Path file) throws IOException {
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
  }

  private static void assertSame(ResumeKey one, ResumeKey other) {
    assertThat(TestResumes.areSame(one, other)).isTrue();
  }

  private static void assertOther(ResumeKey one, ResumeKey other) {
    assertThat(TestResumes.areSame(one, other)).isFalse();
  }

  @Test
  void theFileThatIsNamedIsTheKey() throws Exception {
    Path file = own(Files.write(home.resolve("key"), bytes(2, 32)));
    ServerConfig named = config("auth.resume-key-file", file.toString());
    ResumeKey found = ResumeKeys.find(named, () -> Optional.of(SHARED), home);
    assertSame(found, ResumeKey.of(bytes(2, 32)));
    assertThat(home.resolve(".eventbus")).doesNotExist();
    assertThat(warnings()).isEmpty();
    ResumeKeys.check(named);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 31, 8193})
  void aFileThatCannotBeTheKeyIsRefused(int size) throws Exception {
    Path file = Files.write(home.resolve("key"), bytes(2, size));
    refused(file);
  }

  @Test
  void aFileThatIsNotThereIsRefused() {
    refused(home.resolve("none"));
    refused(home);
  }

  private void refused(Path file) {
    ServerConfig named = config("auth.resume-key-file", file.toString());
    String message =
        "auth.resume-key-file: \"" + file + "\" (expected: a readable file of 32 to 8192";
    assertThatThrownBy(() -> ResumeKeys.find(named, () -> Optional.of(SHARED), home))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith(message);
    assertThatThrownBy(() -> BusServer.check(named))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith(message);
    assertThatThrownBy(() -> BusServer.start(named)).hasMessageStartingWith(message);
  }

  @ParameterizedTest
  @ValueSource(strings = {"rw-r-----", "rw----r--", "rw--w----", "rw-rw-rw-"})
  void aKeyThatOthersCanReadIsToldOf(String permissions) throws Exception {
    Path file = Files.write(home.resolve("key"), bytes(2, 40));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
    assertSame(
        ResumeKeys.find(config("auth.resume-key-file", file.toString()), Optional::empty, home),
        ResumeKey.of(bytes(2, 40)));
    assertThat(warnings()).hasSize(1).first().asString().contains(file.toString(), permissions);
  }

  @Test
  void aClusterHasAKeyOfItsOwn() {
    assertSame(ResumeKeys.find(config(), () -> Optional.of(SHARED), home), ResumeKey.of(SHARED));
    assertThat(home.resolve(".eventbus")).doesNotExist();
    assertThat(warnings()).isEmpty();
  }

  @Test
  void aBusAloneKeepsItsKeyAtHomeForTheNext() throws Exception {
    ResumeKey first = alone(home);
    assertSame(alone(home), first);
    Path file = home.resolve(".eventbus").resolve("resume-key");
    assertThat(file).hasSize(32);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file.getParent())))
        .isEqualTo("rwx------");
    try (Stream<Path> left = Files.list(file.getParent())) {
      assertThat(left).containsExactly(file);
    }
    assertThat(warnings()).isEmpty();
    Files.delete(file);
    assertOther(alone(home), first);
  }

  @Test
  void busesThatStartAtTheSameTimeHaveOneKey() throws Exception {
    int count = 8;
    CyclicBarrier start = new CyclicBarrier(count);
    ExecutorService threads = Executors.newFixedThreadPool(count);
    try {
      for (int round = 0; round < 20; round++) {
        Path fresh = Files.createDirectory(home.resolve("home-" + round));
        List<CompletableFuture<ResumeKey>> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
          all.add(
              CompletableFuture.supplyAsync(
                  () -> {
                    try {
                      start.await(60, TimeUnit.SECONDS);
                    } catch (Exception e) {
                      throw new IllegalStateException(e);
                    }
                    return alone(fresh);
                  },
                  threads));
        }
        ResumeKey first = all.get(0).get(60, TimeUnit.SECONDS);
        for (CompletableFuture<ResumeKey> one : all) {
          assertSame(one.get(60, TimeUnit.SECONDS), first);
        }
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(warnings()).isEmpty();
  }

  @Test
  void aUserWithoutAHomeGetsAKeyForThisRunAndOneWarning() throws Exception {
    Path file = Files.createFile(home.resolve("file"));
    List<Path> homes = List.of(Path.of("?"), Path.of(""), home.resolve("none"), file);
    for (Path none : homes) {
      log.list.clear();
      assertOther(alone(none), alone(none));
      assertThat(warnings())
          .hasSize(2)
          .first()
          .asString()
          .contains(none.toString(), "for this run", "auth.resume-key-file");
    }
    assertThat(Path.of("?")).doesNotExist();
    assertThat(home.resolve("none")).doesNotExist();
  }

  @Test
  void aHomeThatCannotBeWrittenIsNoHome() throws Exception {
    Path locked = Files.createDirectory(home.resolve("locked"));
    Files.setPosixFilePermissions(locked, PosixFilePermissions.fromString("r-x------"));
    assumeTrue(!Files.isWritable(locked), "not for the superuser");
    assertOther(alone(locked), alone(locked));
    assertThat(warnings()).hasSize(2);
  }

  @Test
  void aKeyAtHomeThatIsDamagedIsLeftAlone() throws Exception {
    Path file = Files.createDirectory(home.resolve(".eventbus")).resolve("resume-key");
    byte[] damaged = Arrays.copyOf(bytes(3, 32), 31);
    Files.write(file, damaged);
    assertOther(alone(home), alone(home));
    assertThat(warnings()).hasSize(2).first().asString().contains("it has 31 bytes");
    assertThat(file).hasBinaryContent(damaged);
  }
}
