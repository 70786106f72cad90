package io.eventbus.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Output of the commands about a configuration that holds marked secrets. */
class ConfigSecretsTest {
  private static final String MARK = "markedsecret-0123456789";
  private static final String PEM =
      "-----BEGIN PRIVATE KEY-----\nbWFya2Vkc2VjcmV0"
          + "A".repeat(48)
          + "\n-----END PRIVATE KEY-----\n";

  @ParameterizedTest
  @ValueSource(strings = {"table", "properties", "json"})
  void theConfigurationIsPrintedWithoutThem(String format) {
    CliHarness cli = new CliHarness();
    cli.variables.putAll(
        Map.of(
            "EVENTBUS_AUTH_TOKEN", MARK + "-a",
            "EVENTBUS_ADMIN_TOKEN", MARK + "-b",
            "EVENTBUS_CLUSTER_SECRET", MARK + "-c"));
    assertThat(cli.run("config", "print", "--output", format)).as(cli.err()).isZero();
    assertThat(cli.out()).contains("***", "auth.token", "admin.token", "cluster.secret");
    assertThat(cli.out() + cli.err()).doesNotContain("markedsecret");
  }

  /** Each of them is no file of its kind, and has to be reported so. */
  @Test
  void filesThatCannotBeUsedAreNotShown(@TempDir Path directory) throws Exception {
    Path users = Files.writeString(directory.resolve("users"), "ann:" + MARK + ":acme:\n");
    Path shortText = Files.writeString(directory.resolve("short"), "markedsecret\n");
    Path key = Files.writeString(directory.resolve("key.pem"), PEM);
    List<List<String>> wrong =
        List.of(
            List.of("auth.users-file=" + users),
            List.of(
                "auth.jwt.secret-file=" + shortText, "auth.jwt.issuer=i", "auth.jwt.audience=bus"),
            List.of("auth.jwt.public-keys=" + key, "auth.jwt.issuer=i", "auth.jwt.audience=bus"),
            List.of("admin.token-file=" + shortText),
            List.of("auth.resume-key-file=" + shortText),
            List.of("tls.certificate=" + key, "tls.key=" + key));
    for (List<String> settings : wrong) {
      CliHarness cli = new CliHarness();
      String[] arguments = new String[2 + 2 * settings.size()];
      arguments[0] = "config";
      arguments[1] = "check";
      for (int i = 0; i < settings.size(); i++) {
        arguments[2 + 2 * i] = "--set";
        arguments[3 + 2 * i] = settings.get(i);
      }
      assertThat(cli.run(arguments)).as(settings.toString()).isNotZero();
      assertThat(cli.err()).as(settings.toString()).contains(directory.toString());
      assertThat(cli.out() + cli.err()).doesNotContain("markedsecret", "bWFya2Vkc2VjcmV0");
    }
  }
}
