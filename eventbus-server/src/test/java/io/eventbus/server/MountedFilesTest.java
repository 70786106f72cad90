package io.eventbus.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.it.TestCertificate;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.config.ConfigKey;
import io.eventbus.server.security.AccessChanges;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.AuthenticationMethod;
import io.eventbus.server.security.Credentials;
import io.eventbus.server.security.Identity;
import io.eventbus.server.security.roles.RolePolicy;
import io.eventbus.server.security.roles.RolesFile;
import io.eventbus.server.security.roles.RolesWatch;
import io.eventbus.server.security.users.Users;
import io.eventbus.server.tls.CertificateWatch;
import io.eventbus.server.tls.TlsFiles;
import io.eventbus.server.tls.TlsSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Files that are replaced as Kubernetes does it with mounted secrets: each is a link to {@code
 * ..data/NAME}, and {@code ..data} is a link to a directory that is exchanged for another one.
 */
class MountedFilesTest {
  private final Path mount;
  private final List<String> told = new ArrayList<>();
  private final AccessChanges changes =
      new AccessChanges() {
        @Override
        public void changed(String key, String summary) {
          told.add(key + ": " + summary);
        }

        @Override
        public void refused(String key, String reason) {
          told.add(key + " refused: " + reason);
        }
      };
  private int versions;

  MountedFilesTest(@TempDir Path mount) {
    this.mount = mount;
  }

  /** Replaces all files at once. */
  private void mount(Map<String, String> files) throws IOException {
    Path version = Files.createDirectory(mount.resolve("..version-" + ++versions));
    for (Map.Entry<String, String> file : files.entrySet()) {
      Files.writeString(version.resolve(file.getKey()), file.getValue());
    }
    Path next = Files.createSymbolicLink(mount.resolve("..data_tmp"), version.getFileName());
    Files.move(next, mount.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);
    for (String name : files.keySet()) {
      if (!Files.exists(mount.resolve(name))) {
        Files.createSymbolicLink(mount.resolve(name), Path.of("..data", name));
      }
    }
  }

  private static boolean mayRead(RolePolicy policy) {
    Identity identity =
        new Identity(
            "",
            "u1",
            AuthenticationMethod.PASSWORD,
            Set.of("reader"),
            Map.of(),
            Map.of(),
            Map.of(),
            null,
            null);
    return policy
        .permissions(identity, new Credentials(null, "", false))
        .of(Action.SUBSCRIBE)
        .allows(TopicFilter.parse("a"));
  }

  @Test
  void usersAndRolesAreTakenWithTheNextLook() throws Exception {
    String roles = "[role reader]\nallow subscribe a\n";
    mount(Map.of("users", "u1:*::reader\n", "roles.conf", roles));
    Users users = new Users(mount.resolve("users"), changes);
    RolesFile file = new RolesFile(mount.resolve("roles.conf"));
    RolePolicy policy = new RolePolicy(file.read(), false);
    RolesWatch watch = new RolesWatch(file, policy, changes);
    assertThat(mayRead(policy)).isTrue();

    mount(Map.of("users", "u2:*::reader\n", "roles.conf", "[role reader]\n"));
    users.refresh();
    watch.refresh();
    watch.refresh();
    assertThat(users.identity("u1")).isEmpty();
    assertThat(users.identity("u2")).isPresent();
    assertThat(mayRead(policy)).isFalse();

    mount(Map.of("users", "u3\n", "roles.conf", "[role\n"));
    for (int i = 0; i < 3; i++) {
      users.refresh();
      watch.refresh();
    }
    assertThat(users.identity("u2")).isPresent();
    assertThat(told).hasSize(4);
    assertThat(told.subList(0, 2))
        .containsExactlyInAnyOrder("auth.users-file: 1 users", "auth.roles-file: 1 roles, 0 rules");
    assertThat(told.subList(2, 4)).allMatch(line -> line.contains(" refused: "));
  }

  @Test
  void aCertificateAndItsKeyAreTakenTogether() throws Exception {
    List<String> taken = new ArrayList<>();
    try (TestCertificate first = TestCertificate.make("CN=first", "-0d");
        TestCertificate second = TestCertificate.make("CN=second", "-0d")) {
      mount(pair(first));
      TlsSource source =
          TlsSource.open(
              new TlsFiles(
                  "listen",
                  new TlsFiles.ConfiguredFile(ConfigKey.TLS_CERTIFICATE, mount.resolve("tls.crt")),
                  new TlsFiles.ConfiguredFile(ConfigKey.TLS_KEY, mount.resolve("tls.key")),
                  null),
              material -> taken.add(material.subject()));
      CertificateWatch watch =
          new CertificateWatch(List.of(source), new Advisories(), Clock.systemUTC());
      watch.look();
      mount(pair(second));
      watch.look();
    }
    assertThat(taken).containsExactly("CN=first", "CN=second");
  }

  private static Map<String, String> pair(TestCertificate certificate) throws IOException {
    return Map.of(
        "tls.crt", Files.readString(certificate.certificatePem()),
        "tls.key", Files.readString(certificate.keyPem()));
  }
}
