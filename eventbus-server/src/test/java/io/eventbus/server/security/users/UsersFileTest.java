package io.eventbus.server.security.users;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.eventbus.server.config.ConfigException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UsersFileTest {
  private static final String HASH =
      "$argon2id$v=19$m=16,t=1,p=1$c29tZXNhbHRzb21lc2FsdA$QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFB";

  private static User user(List<String> lines, String name) throws Exception {
    @Nullable User found = UsersFile.parse(lines).find(name);
    if (found == null) {
      throw new AssertionError("no user " + name);
    }
    return found;
  }

  private static void refused(String line, String... says) {
    assertThatExceptionOfType(UsersFile.BadFileException.class)
        .isThrownBy(() -> UsersFile.parse(List.of("# users", "", line)))
        .withMessageStartingWith("3: ")
        .satisfies(e -> assertThat(e.getMessage()).contains(says).doesNotContain("c29tZXNhbHR"));
  }

  @Test
  void aLineIsAUserWithAccountAndRoles() throws Exception {
    User alice = user(List.of(" alice:" + HASH + ":acme:trader,reader "), "alice");
    assertThat(alice.account()).isEqualTo("acme");
    assertThat(alice.roles()).containsExactly("trader", "reader");
    assertThat(alice.hash()).isNotNull();
    assertThat(alice.toString()).doesNotContain("argon2id");
  }

  @Test
  void accountAndRolesMayBeEmptyAndANameMayBeAUri() throws Exception {
    User billing =
        user(List.of("spiffe://example.org/billing:*::"), "spiffe://example.org/billing");
    assertThat(billing.hash()).isNull();
    assertThat(billing.account()).isEmpty();
    assertThat(billing.roles()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"alice", "alice:", "alice:*", "alice:*:acme", ":*:acme:trader"})
  void aLineThatIsNoUserIsRefusedWithItsNumber(String line) {
    refused(line, "expected: name:hash:account:roles");
  }

  @Test
  void errorsOfALineAreReported() {
    refused("al ice:*:acme:", "name", "white space");
    refused("x".repeat(256) + ":*:acme:", "name", "255 bytes");
    refused("alice:*:a b:", "account \"a b\"");
    refused("alice:*:acme:trader,", "role \"\"");
    refused("alice:*:acme:tra der", "role \"tra der\"");
    refused("alice:password:acme:", "no hash of a password");
    refused("alice:" + HASH.replace("argon2id", "argon2i") + "::", "no hash of a password");
    refused("alice:" + HASH.replace("v=19", "v=16") + "::", "no hash of a password");
  }

  /** The time of a refusal would reveal the names. */
  @Test
  void namesThatAreNotInTheFileCostWhatUsersCost() throws Exception {
    String cheap = PasswordHash.of("a", new SecureRandom(), 16, 1).text();
    String dear = PasswordHash.of("a", new SecureRandom(), 16, 2).text();
    UsersFile file = UsersFile.parse(List.of("a:" + cheap + "::", "b:" + dear + "::", "c:*::"));
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < 100; i++) {
      PasswordHash decoy = file.decoy("nobody" + i);
      assertThat(decoy).isNotNull().isSameAs(file.decoy("nobody" + i));
      seen.add(decoy.text());
    }
    assertThat(seen).containsExactlyInAnyOrder(cheap, dear);
    assertThat(UsersFile.parse(List.of("c:*::")).decoy("nobody")).isNull();
  }

  @Test
  void aHashThatAsksForMuchIsRefused() {
    refused("alice:" + HASH.replace("m=16", "m=262145") + "::", "m=262145", "262144");
    refused("alice:" + HASH.replace("m=16", "m=999999999") + "::", "m=999999999");
    refused("alice:" + HASH.replace("m=16", "m=9999999999") + "::", "no hash of a password");
    refused("alice:" + HASH.replace("m=16", "m=7") + "::", "m=7");
    refused("alice:" + HASH.replace("t=1", "t=11") + "::", "t=11");
    refused("alice:" + HASH.replace("t=1", "t=0") + "::", "t=0");
    refused("alice:" + HASH.replace("p=1", "p=5") + "::", "p=5");
  }

  @Test
  void aNameIsThereOnce() {
    assertThatExceptionOfType(UsersFile.BadFileException.class)
        .isThrownBy(() -> UsersFile.parse(List.of("alice:*:a:", "alice:*:b:")))
        .withMessage("2: alice is there a second time");
  }

  @Test
  void thereMayBeOnlySoMany() {
    List<String> lines =
        IntStream.rangeClosed(0, UsersFile.MAX_USERS).mapToObj(i -> "u" + i + ":*::").toList();
    assertThatExceptionOfType(UsersFile.BadFileException.class)
        .isThrownBy(() -> UsersFile.parse(lines))
        .withMessage((UsersFile.MAX_USERS + 1) + ": more than " + UsersFile.MAX_USERS + " users");
  }

  @Test
  void aFileThatCannotBeUsedIsRefusedByName(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("users");
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> new Users(file))
        .withMessageContaining("auth.users-file: " + file + " cannot be read");
    Files.writeString(file, "# one\nalice\n");
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> new Users(file))
        .withMessageContaining("auth.users-file: " + file + ":2: no user");
    Files.write(file, new byte[] {(byte) 0xff});
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> new Users(file))
        .withMessageContaining("is not UTF-8");
    Files.writeString(
        file,
        String.join("", Collections.nCopies(UsersFile.MAX_BYTES / 16 + 1, "# sixteen bytes\n")));
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> new Users(file))
        .withMessageContaining("has more than " + UsersFile.MAX_BYTES + " bytes");
  }

  private static void write(Path file, String text, int second) throws IOException {
    Files.writeString(file, text);
    Files.setLastModifiedTime(file, FileTime.from(Instant.ofEpochSecond(second)));
  }

  @Test
  void aChangedFileIsReadAgainAndABadOneIsNot(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("users");
    write(file, "alice:*:a:\n", 1);
    Users users = new Users(file);
    write(file, "bobby:*:a:\n", 2);
    users.refresh();
    assertThat(users.current().find("alice")).isNull();
    assertThat(users.current().find("bobby")).isNotNull();
    write(file, "nobody\n", 3);
    users.refresh();
    assertThat(users.current().find("bobby")).isNotNull();
    Files.delete(file);
    users.refresh();
    assertThat(users.current().find("bobby")).isNotNull();
    write(file, "carol:*:a:\n", 4);
    users.refresh();
    assertThat(users.current().find("carol")).isNotNull();
  }

  @Test
  void aNewHashIsThatOfItsPasswordOnly() {
    PasswordHash hash = PasswordHash.of("correct horse", new SecureRandom());
    assertThat(hash.text()).startsWith("$argon2id$v=19$m=19456,t=2,p=1$");
    PasswordHash read = PasswordHash.parse(hash.text());
    assertThat(read.matches("correct horse")).isTrue();
    assertThat(read.matches("correct horsf")).isFalse();
    assertThat(read.matches("")).isFalse();
  }

  /** The parameters are those of the hash, and not the library's own. */
  @Test
  void aHashWithOtherParametersIsChecked() {
    PasswordHash hash = PasswordHash.of("s3cret", new SecureRandom(), 32, 3);
    assertThat(hash.text()).startsWith("$argon2id$v=19$m=32,t=3,p=1$");
    assertThat(PasswordHash.parse(hash.text()).matches("s3cret")).isTrue();
    assertThat(PasswordHash.parse(hash.text().replace("t=3", "t=2")).matches("s3cret")).isFalse();
  }
}
