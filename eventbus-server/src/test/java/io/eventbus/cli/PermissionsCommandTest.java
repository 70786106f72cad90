package io.eventbus.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.server.security.Action;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPairGenerator;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class PermissionsCommandTest {
  private static final String FILE =
      """
      [role anonymous]
      allow subscribe public.>
      [role trader]
      allow publish user.{sub}.>
      allow publish desk.{claim:desk}
      allow publish {account}.{client}
      deny publish user.{sub}.root
      allow subscribe user.root
      allow subscribe user.>
      allow observe $SYS.>
      quota connections = 5
      quota publish-bytes = 2MiB
      [default]
      roles = trader
      [account acme]
      quota connections = 0
      """;

  private final CliHarness cli = new CliHarness();
  private final Path directory;
  private String roles;

  PermissionsCommandTest(@TempDir Path directory) throws IOException {
    this.directory = directory;
    roles = Files.writeString(directory.resolve("roles.conf"), FILE).toString();
  }

  private int run(String command, String... more) {
    cli.stdout.reset();
    List<String> all = new ArrayList<>(List.of("permissions", command, "--roles", roles));
    all.addAll(List.of(more));
    return cli.run(all.toArray(String[]::new));
  }

  @Test
  void anAnswerNamesTheLineThatDecided() {
    assertThat(run("test", "--as", "u1", "publish", "user.u1.a")).isZero();
    assertThat(cli.out())
        .isEqualTo("allowed by allow publish user.{sub}.> (role trader, roles.conf:4)\n");
    assertThat(run("test", "--as", "u1", "publish", "user.u1.root")).isEqualTo(ExitCode.FAILED);
    assertThat(cli.out())
        .isEqualTo(
            """
            refused by deny publish user.{sub}.root (role trader, roles.conf:7)
            The client has role trader.
            """);
    assertThat(run("test", "--role", "trader", "subscribe", ">")).isEqualTo(ExitCode.FAILED);
    assertThat(cli.out()).startsWith("refused: no rule allows all of it; a part: allow subscribe");
    assertThat(cli.err()).isEmpty();
  }

  @Test
  void theClientIsWhatTheOptionsSay() {
    assertThat(run("test", "subscribe", "public.a")).as("anonymous").isZero();
    assertThat(run("test", "--as", "u1", "subscribe", "public.a")).isEqualTo(ExitCode.FAILED);
    assertThat(run("test", "--as", "u1", "--claim", "desk=fx", "publish", "desk.fx")).isZero();
    assertThat(run("test", "--as", "u1", "publish", "desk.fx")).isEqualTo(ExitCode.FAILED);
    assertThat(run("test", "--as", "u1", "--account", "a", "--client", "c", "publish", "a.c"))
        .isZero();
    assertThat(run("test", "--as", "u1", "observe", "$SYS.bus.>")).isZero();
    assertThat(run("test", "--as", "u1", "--role", "other", "subscribe", "user.a"))
        .isEqualTo(ExitCode.USAGE);
    assertThat(cli.err())
        .contains("--role other: roles.conf does not have it (expected: anonymous, trader)");
  }

  @Test
  void aUserHasTheRolesOfItsLine() throws IOException {
    String users =
        Files.writeString(directory.resolve("users"), "u1:*:acme:trader\nu2:*::\nu3:*::gone\n")
            .toString();
    assertThat(run("test", "--users", users, "--as", "u1", "--client", "c", "publish", "acme.c"))
        .isZero();
    assertThat(run("test", "--users", users, "--as", "u2", "publish", "user.u2.a"))
        .as("by [default]")
        .isZero();
    assertThat(run("test", "--users", users, "--as", "u3", "publish", "user.u3.a"))
        .isEqualTo(ExitCode.FAILED);
    assertThat(cli.err())
        .as("a plain line, without a date")
        .isEqualTo(
            "eventbus: the client has the role gone, which roles.conf does not have: it allows"
                + " nothing (expected: anonymous, trader)\n");
    assertThat(run("test", "--users", users, "--as", "u4", "publish", "a"))
        .isEqualTo(ExitCode.USAGE);
    assertThat(cli.err()).contains("there is no user \"u4\" in ");
    assertThat(run("list", "--users", users)).isEqualTo(ExitCode.USAGE);
    assertThat(run("list", "--as", "a\nb")).isEqualTo(ExitCode.USAGE);
  }

  private String configuration(String... lines) throws IOException {
    return Files.writeString(directory.resolve("bus.properties"), String.join("\n", lines))
        .toString();
  }

  private int withConfiguration(String command, String file, String... more) {
    cli.stdout.reset();
    cli.stderr.getBuffer().setLength(0);
    List<String> all = new ArrayList<>(List.of("permissions", command, "--config", file));
    all.addAll(List.of(more));
    return cli.run(all.toArray(String[]::new));
  }

  @Test
  void theFilesAreThoseOfAConfiguration() throws IOException {
    Path users = Files.writeString(directory.resolve("users"), "u1:*:acme:trader\n");
    String file = configuration("auth.roles-file=" + roles, "auth.users-file=" + users);
    String[] question = {"--as", "u1", "--client", "c", "publish", "acme.c"};
    assertThat(withConfiguration("test", file, question)).as(cli.err()).isZero();
    assertThat(cli.out())
        .isEqualTo("allowed by allow publish {account}.{client} (role trader, roles.conf:6)\n");
    assertThat(withConfiguration("test", file, "--as", "u9", "publish", "a"))
        .isEqualTo(ExitCode.USAGE);
    assertThat(cli.err()).contains("there is no user \"u9\" in ");
    cli.variables.put("EVENTBUS_CONFIG", file);
    assertThat(cli.run("permissions", "test", "--as", "u1", "publish", "user.u1.a"))
        .as(cli.err())
        .isZero();
    cli.variables.clear();
    assertThat(cli.run("permissions", "test", "--as", "u1", "publish", "user.u1.a"))
        .isEqualTo(ExitCode.USAGE);
    assertThat(cli.err()).contains("no rules (expected: --roles FILE, or --config FILE");
  }

  @Test
  void withoutARolesFileTheKeysDecide() throws IOException {
    String file = configuration("auth.block=nobody", "quotas.connections=7");
    assertThat(withConfiguration("test", file, "publish", "a.b")).isZero();
    assertThat(cli.out()).isEqualTo("allowed: no rule\n");
    assertThat(withConfiguration("test", file, "block", "a.b")).isEqualTo(ExitCode.FAILED);
    assertThat(cli.out())
        .isEqualTo("refused: no rule allows it\nThe client has auth.block=nobody.\n");
    assertThat(withConfiguration("list", file)).isZero();
    assertThat(cli.out()).contains("publish    allow   >       no rule", "connections     7 ");
  }

  @Test
  void theRulesOfATokenCount() throws Exception {
    byte[] secret = "0123456789abcdef0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
    Path key = Files.write(directory.resolve("secret"), secret);
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    String file =
        configuration(
            "auth.roles-file=" + roles,
            "auth.jwt.issuer=https://issuer.example",
            "auth.jwt.audience=bus",
            "auth.jwt.algorithms=HS256",
            "auth.jwt.secret-file=" + key);
    long now = System.currentTimeMillis() / 1000;
    String claims =
        "{\"iss\":\"https://issuer.example\",\"aud\":\"bus\",\"sub\":\"u1\",\"iat\":"
            + now
            + ",\"exp\":"
            + (now + 3600)
            + ",\"eventbus\":{\"roles\":[\"trader\",\"other\"],\"allow\":{\"publish\":[\"own.{sub}\"]},"
            + "\"deny\":{\"subscribe\":[\"user.root\"]}}}";
    String token = Files.writeString(directory.resolve("token"), jwt(claims, secret)).toString();
    assertThat(withConfiguration("test", file, "--token-file", token, "publish", "own.u1"))
        .as(cli.err())
        .isZero();
    assertThat(cli.out()).isEqualTo("allowed by allow publish own.{sub} (token)\n");
    assertThat(cli.err())
        .isEqualTo(
            "eventbus: the client has the role other, which roles.conf does not have: it allows"
                + " nothing (expected: anonymous, trader)\n");
    assertThat(withConfiguration("test", file, "--token-file", token, "subscribe", "user.root"))
        .isEqualTo(ExitCode.FAILED);
    assertThat(cli.out()).startsWith("refused by deny subscribe user.root (token)\n");
    assertThat(withConfiguration("test", file, "--token-file", token, "--as", "u1", "publish", "a"))
        .isEqualTo(ExitCode.USAGE);
    assertThat(cli.err()).contains("--token-file wants neither --as, --users, --role");
    Files.writeString(Path.of(token), jwt(claims, new byte[32]));
    assertThat(withConfiguration("test", file, "--token-file", token, "publish", "own.u1"))
        .isEqualTo(ExitCode.FAILED);
    assertThat(cli.err()).startsWith("eventbus: a bus refuses this client: it showed a token");
    assertThat(run("test", "--token-file", token, "publish", "own.u1")).isEqualTo(ExitCode.USAGE);
    assertThat(cli.err()).contains("--token-file wants the keys of a configuration");
  }

  private static String jwt(String claims, byte[] secret) throws Exception {
    Base64.Encoder encoder = Base64.getUrlEncoder().withoutPadding();
    String head = encoder.encodeToString("{\"alg\":\"HS256\"}".getBytes(StandardCharsets.UTF_8));
    String body = encoder.encodeToString(claims.getBytes(StandardCharsets.UTF_8));
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(secret, "HmacSHA256"));
    byte[] signature = mac.doFinal((head + "." + body).getBytes(StandardCharsets.US_ASCII));
    return head + "." + body + "." + encoder.encodeToString(signature);
  }

  @Test
  void theHelpNamesEveryAction() {
    assertThat(cli.run("permissions", "test", "--help")).isZero();
    String help = cli.out().replaceAll("\\s+", " ");
    for (Action action : Action.values()) {
      assertThat(help).contains(action.name().toLowerCase(Locale.ROOT));
    }
  }

  @Test
  void unknownQueriesAreRefused() {
    assertThat(run("test", "publish", "a.>")).isEqualTo(ExitCode.USAGE);
    assertThat(run("test", "publish", "$SYS.a")).isEqualTo(ExitCode.USAGE);
    assertThat(run("test", "subscribe", "$SYS.>")).isEqualTo(ExitCode.USAGE);
    assertThat(run("test", "observe", ">")).isEqualTo(ExitCode.USAGE);
    assertThat(cli.err())
        .contains("holds a wildcard", "(expected: the action observe)", "starts with $");
    roles = directory.resolve("gone").toString();
    assertThat(run("list")).isEqualTo(ExitCode.USAGE);
    assertThat(cli.err()).contains("gone: is not there");
  }

  @Test
  void jsonSaysTheSame() throws IOException {
    assertThat(run("test", "-o", "json", "--as", "u1", "publish", "user.u1.root"))
        .isEqualTo(ExitCode.FAILED);
    JsonNode json = new ObjectMapper().readTree(cli.out());
    assertThat(json.path("allowed").asBoolean(true)).isFalse();
    assertThat(json.path("action").asText()).isEqualTo("publish");
    assertThat(json.path("name").asText()).isEqualTo("user.u1.root");
    assertThat(json.path("client").asText()).isEqualTo("role trader");
    assertThat(json.path("rule").asText()).isEqualTo("deny publish user.{sub}.root");
    assertThat(json.path("source").asText()).isEqualTo("role trader, roles.conf:7");
    assertThat(run("list", "--output", "json", "--as", "u1")).isZero();
    JsonNode all = new ObjectMapper().readTree(cli.out());
    assertThat(all.path("quotas"))
        .isEqualTo(new ObjectMapper().readTree("{\"connections\":5,\"publish-bytes\":2097152}"));
    assertThat(all.path("accountQuotas")).isEmpty();
    JsonNode rules = all.path("rules");
    assertThat(rules).hasSize(7);
    assertThat(rules.findValuesAsText("filter"))
        .contains("user.u1.>", "user.u1.root", "user.>", "$SYS.>", "");
  }

  @Test
  void theListShowsRulesWithTheClientsValues() {
    assertThat(run("list", "--as", "u1", "--claim", "desk=a.b")).isZero();
    assertThat(cli.out().lines().toList())
        .first()
        .asString()
        .matches("ACTION +EFFECT +FILTER +RULE");
    assertThat(cli.out())
        .containsPattern("publish +allow +user.u1.> +allow publish user.\\{sub}.> \\(role trader")
        .contains("{claim:desk} has no value that is one token), which allows nothing");
  }

  @Test
  void theListShowsQuotas() {
    assertThat(run("list", "--as", "u1", "--account", "acme")).isZero();
    assertThat(cli.out())
        .endsWith(
            """

            QUOTA          CLIENT  ACCOUNT
            connections    5       no limit
            publish-bytes  2MiB
            """);
    assertThat(run("list")).isZero();
    assertThat(cli.out()).doesNotContain("QUOTA");
  }

  /** The example of the page: its file, its commands and their output. */
  @Test
  void theExampleOfThePageIsTrue() throws IOException {
    String page = Files.readString(Path.of("..", "docs", "security.md")).replace("\r\n", "\n");
    List<String> blocks =
        Pattern.compile("(?ms)^```text\n(.*?)\n```$")
            .matcher(page.substring(page.indexOf("## Roles and rules")))
            .results()
            .map(block -> block.group(1))
            .toList();
    Files.writeString(Path.of(roles), blocks.get(0));
    int commands = 0;
    for (String question : blocks.get(1).split("(^|\n)\\$ ", -1)) {
      if (!question.isEmpty()) {
        String[] lines = question.split("\n", 2);
        List<String> words = new ArrayList<>(List.of(lines[0].split(" ", -1)));
        words.set(words.indexOf("--roles") + 1, roles);
        cli.stdout.reset();
        int code = cli.run(words.subList(1, words.size()).toArray(String[]::new));
        assertThat(cli.out()).as(lines[0]).isEqualTo(lines[1].strip() + "\n");
        assertThat(code).isEqualTo(lines[1].startsWith("allowed") ? 0 : ExitCode.FAILED);
        commands++;
      }
    }
    assertThat(commands).isEqualTo(3);
    assertThat(cli.run("config", "check", "--set", "auth.roles-file=" + roles)).isZero();
    assertThat(cli.out()).doesNotContain("adds nothing", "never applies");
  }

  /** Settings that a bus starts with, and nobody means. */
  @Test
  void theConfigurationIsReviewed(@TempDir Path directory) throws Exception {
    String hash = "$argon2id$v=19$m=65536,t=3,p=4$" + "A".repeat(22) + "$" + "A".repeat(43);
    Path users =
        Files.writeString(directory.resolve("users"), "ann:" + hash + "::tradre\nx:*::trader\n");
    Files.setPosixFilePermissions(users, PosixFilePermissions.fromString("rw-r--r--"));
    Files.setPosixFilePermissions(Path.of(roles), PosixFilePermissions.fromString("rw-rw-rw-"));
    assertThat(check("auth.roles-file=" + roles, "auth.users-file=" + users)).isZero();
    assertThat(cli.out())
        .contains(
            "The file of auth.users-file, " + users + ", has the permissions rw-r--r--",
            "The file of auth.roles-file, " + roles + ", has the permissions rw-rw-rw-",
            users + ": ann has the role tradre, which no roles file has",
            users + ": to check the password of ann costs 5 times what",
            "A bus would start with the configuration, but see above.")
        .doesNotContain("x has the role");
    Files.writeString(users, "# nobody\n");
    assertThat(check("auth.users-file=" + users)).isZero();
    assertThat(cli.out()).contains(users + " has no users");
  }

  @Test
  void keysThatFitNothingAreFound(@TempDir Path directory) throws Exception {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
    generator.initialize(2048);
    String pem =
        "-----BEGIN PUBLIC KEY-----\n"
            + Base64.getMimeEncoder()
                .encodeToString(generator.generateKeyPair().getPublic().getEncoded())
            + "\n-----END PUBLIC KEY-----\n";
    String file = Files.writeString(directory.resolve("key.pem"), pem).toString();
    String[] needed = {"auth.jwt.issuer=i", "auth.jwt.audience=bus"};
    assertThat(check(needed[0], needed[1], "auth.jwt.secret-file=" + file))
        .isEqualTo(ExitCode.USAGE);
    assertThat(cli.err())
        .contains("auth.jwt.secret-file: " + file + ": a key or certificate in PEM");
    String keys = "auth.jwt.public-keys=" + file;
    assertThat(check(needed[0], needed[1], keys, "auth.jwt.algorithms=ES256"))
        .isEqualTo(ExitCode.USAGE);
    assertThat(cli.err()).contains("auth.jwt.algorithms: ES256: no key is for one of them");
    assertThat(check(needed[0], needed[1], keys, "auth.jwt.algorithms=RS256,ES256")).isZero();
    assertThat(cli.out()).contains("auth.jwt.algorithms: ES256: there is no key of that type");
    assertThat(check(needed[0], needed[1], keys)).isZero();
    assertThat(cli.out()).contains("The configuration is good.");
  }

  @Test
  void anAuditLogThatCannotBeWrittenIsFound(@TempDir Path directory) throws Exception {
    Path file = Files.writeString(directory.resolve("file"), "");
    assertThat(check("audit.file=" + file.resolve("audit.log"))).isEqualTo(ExitCode.USAGE);
    assertThat(cli.err()).contains("audit.file: ", "cannot be written");
    assertThat(check("audit.file=" + directory)).isEqualTo(ExitCode.USAGE);
    assertThat(check("audit.file=" + directory.resolve("new").resolve("audit.log"))).isZero();
    assertThat(directory.resolve("new")).doesNotExist();
  }

  private int check(String... settings) {
    List<String> words = new ArrayList<>(List.of("config", "check"));
    for (String setting : settings) {
      words.addAll(List.of("--set", setting));
    }
    return cli.run(words.toArray(String[]::new));
  }

  @Test
  void theConfigurationIsCheckedWithTheRules() throws IOException {
    assertThat(cli.run("config", "check", "--set", "auth.roles-file=" + roles)).isZero();
    assertThat(cli.out())
        .contains(
            "roles.conf: 2 roles, 8 rules",
            "allow subscribe user.root (role trader, roles.conf:8) adds nothing to allow subscribe"
                + " user.> (role trader, roles.conf:9)",
            "The configuration is good.");
    Files.writeString(Path.of(roles), "[role r]\nallow publsh a\n");
    assertThat(cli.run("config", "check", "--set", "auth.roles-file=" + roles))
        .isEqualTo(ExitCode.USAGE);
    assertThat(cli.err()).contains("roles.conf:2: \"publsh\" is no action (expected: publish,");
  }
}
