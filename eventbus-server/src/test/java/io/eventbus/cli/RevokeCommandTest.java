package io.eventbus.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.server.admin.AdminServer;
import io.eventbus.server.admin.FakeBus;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.config.AdminAccessConfig;
import io.eventbus.server.config.AdminConfig;
import io.eventbus.server.security.PermissionPolicy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code eventbus revoke}, and its effect at the administration port. */
@Timeout(180)
class RevokeCommandTest {
  private final FakeBus bus = new FakeBus(0);
  private final CliHarness cli = new CliHarness();
  private final List<Advisory> audited = Collections.synchronizedList(new ArrayList<>());
  private final AdminServer server;

  RevokeCommandTest() throws Exception {
    bus.startRegistry();
    Advisories advisories = new Advisories();
    advisories.audit(audited::add);
    server =
        AdminServer.start(
            new AdminConfig(true, "127.0.0.1", 0, List.of(), AdminAccessConfig.open()),
            bus::health,
            advisories,
            200);
    server.serve(bus, List.of(), PermissionPolicy.NOTHING);
  }

  @AfterEach
  void stop() {
    server.close();
    bus.closeRegistry();
  }

  /** Returns the output. */
  private String revoke(int expected, String... options) {
    List<String> all = new ArrayList<>(List.of("revoke", "--admin=127.0.0.1:" + server.port()));
    all.addAll(Arrays.asList(options));
    cli.stdout.reset();
    assertThat(cli.run(all.toArray(new String[0]))).as(cli.err()).isEqualTo(expected);
    return cli.out();
  }

  @Test
  void aClientIsRevokedListedAndTakenBack() throws Exception {
    assertThat(revoke(0, "--account=acme", "--subject=u 1", "--before=2026-01-02T04:04:05+01:00"))
        .isEqualTo(
            """
            What was issued for u 1 of account acme before 2026-01-02T03:04:05Z is revoked.
            This bus serves alone: it forgets that when it ends.
            """);
    Instant before = Instant.now();
    JsonNode json = new ObjectMapper().readTree(revoke(0, "--subject=u:1", "--json"));
    assertThat(Instant.parse(json.path("issuedBefore").asText()))
        .as("now")
        .isBetween(before.minusMillis(1), Instant.now());
    assertThat(revoke(0, "--list").lines().toList())
        .hasSize(3)
        .anyMatch(line -> line.matches("acme +u 1 +2026-01-02T03:04:05Z"))
        .anyMatch(line -> line.matches(" +u:1 +20.*Z"));
    assertThat(revoke(0, "--list", "--json").lines().toList()).hasSize(2);
    assertThat(revoke(0, "--undo", "--subject=u:1"))
        .isEqualTo("Nothing of u:1 is revoked any more.\n");
    assertThat(revoke(0, "--list").lines().toList()).hasSize(2);
    revoke(1, "--undo", "--subject=u:1");
    assertThat(cli.err()).contains("no such revocation");
    assertThat(audited)
        .anySatisfy(
            told ->
                assertThat(told)
                    .isInstanceOfSatisfying(
                        Advisory.AdminAction.class,
                        action -> {
                          assertThat(action.method()).isEqualTo("PUT");
                          assertThat(action.target()).contains("account=acme&subject=u+1&before=");
                          assertThat(action.status()).isEqualTo(200);
                        }));
  }

  @Test
  void errorsAreReported() {
    revoke(2);
    assertThat(cli.err()).contains("no client (expected: --subject NAME");
    revoke(2, "--list", "--undo");
    revoke(2, "--undo", "--subject=u1", "--before=2026-01-02T03:04:05Z");
    revoke(1, "--subject=u1", "--before=yesterday");
    assertThat(cli.err()).contains("before: illegal (expected: a time with its zone");
    String later = Instant.now().plus(Duration.ofHours(1)).toString();
    revoke(1, "--subject=u1", "--before=" + later);
    assertThat(cli.err())
        .contains("before: in the future", "30 s for an issuer whose clock is ahead");
    revoke(1, "--subject=", "--account=a");
    assertThat(cli.err()).contains("subject: missing or illegal");
    revoke(1, "--subject=u1", "--account=$SYS");
    assertThat(cli.err()).contains("account: illegal (expected: up to 64 letters");
    assertThat(revoke(0, "--list").lines().toList()).hasSize(1);
  }

  @Test
  void withoutALoginEverybodyMayDoEverything() {
    assertThat(cli.run("whoami", "--admin=127.0.0.1:" + server.port())).as(cli.err()).isZero();
    assertThat(cli.out().lines().map(line -> line.replaceAll(" +", " ").strip()))
        .containsExactly(
            "name (nobody has to log in)",
            "account (none)",
            "roles (none)",
            "proved by -",
            "expires never",
            "administration admin");
  }

  @Test
  void aLongListComesInPages() {
    for (int i = 0; i < 1_001; i++) {
      bus.revoke("", "u" + i);
    }
    assertThat(revoke(0, "--list", "--json").lines().distinct().toList()).hasSize(1_001);
  }
}
