package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.ServiceFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.FailureCode;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Register;
import io.eventbus.schema.Subscribe;
import io.eventbus.server.BusServer;
import io.eventbus.server.samples.SampleCalls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Answers to a client for each action that a rule allows, denies, or does not mention. */
@Timeout(180)
class RolesIT {
  private static final String FILE =
      """
      [role user]
      allow publish open.>
      allow publish user.{sub}.>
      deny publish open.root
      allow subscribe open.>
      allow subscribe user.{sub}.>
      deny subscribe open.root
      allow block open.*
      allow block user.{sub}.>
      deny block open.b
      allow observe $SYS.open.>
      allow observe $SYS.user.{sub}
      deny observe $SYS.open.root
      allow request open.>
      allow request user.{sub}
      deny request open.root
      allow serve open.>
      allow serve user.{sub}
      deny serve open.root
      """;

  /** Action, name, whether it is allowed: by a rule, by a template, not at all, and denied. */
  private static final String ROWS =
      """
      publish   open.a           yes
      publish   user.u1.a        yes
      publish   user.u2.a        no
      publish   other            no
      publish   open.root        no
      subscribe open.a           yes
      subscribe user.u1.*        yes
      subscribe user.*.a         no
      subscribe other            no
      subscribe open.root        no
      subscribe open.>           no
      block     open.a           yes
      block     user.u1.b        yes
      block     open.a.b         no
      block     open.b           no
      observe   $SYS.open.a      yes
      observe   $SYS.user.u1     yes
      observe   $SYS.user.u2     no
      observe   $SYS.other       no
      observe   $SYS.open.root   no
      request   open.a           yes
      request   user.u1          yes
      request   user.u2          no
      request   other            no
      request   open.root        no
      serve     open.a           yes
      serve     user.u1          yes
      serve     user.u2          no
      serve     other            no
      serve     open.root        no
      """;

  private long number;

  private boolean mayDo(RawClient client, String action, String name) throws IOException {
    number++;
    switch (action) {
      case "publish" -> client.send(RawClient.publish(name, 1, true, "x"));
      case "subscribe", "observe" -> subscribe(client, name, Overflow.DROP_OLDEST);
      case "block" -> subscribe(client, name, Overflow.BLOCK);
      case "request" -> {
        client.send(ControlFrames.encode(TypeCode.REQUEST, SampleCalls.request(number, name, "x")));
        RawClient.BusFrame answer = client.expect(TypeCode.FAILURE);
        FailureCode code =
            ServiceFrames.failure(answer.buffer(), 0, answer.body().length).getCode();
        assertThat(code).isIn(FailureCode.NO_MEMBER, FailureCode.FORBIDDEN);
        return code == FailureCode.NO_MEMBER;
      }
      default ->
          client.send(
              ControlFrames.encode(
                  TypeCode.REGISTER,
                  new Register(number, name, 0, false, "", Map.of(), Overflow.DROP_OLDEST)));
    }
    RawClient.BusFrame answer = client.next();
    if (answer.typeCode() == TypeCode.CONFIRM.code()) {
      return true;
    }
    assertThat(ControlFrames.problem(answer.buffer(), 0, answer.body().length).getCode())
        .isEqualTo(ErrorCode.FORBIDDEN);
    return false;
  }

  private void subscribe(RawClient client, String filter, Overflow overflow) throws IOException {
    client.send(
        ControlFrames.encode(TypeCode.SUBSCRIBE, new Subscribe(number, filter, null, overflow)));
  }

  /** Asserts the audit entry of each denial: the action, and the rule with its line. */
  private static void assertAudited(List<String> entries) {
    String audit = String.join("\n", entries);
    for (String row : ROWS.lines().filter(line -> line.endsWith("no")).toList()) {
      String[] cells = row.split(" +", -1);
      assertThat(audit)
          .contains(
              "\"subject\":\"u1\",\"action\":\"%s\",\"name\":\"%s\",\"reason\":\""
                  .formatted(cells[0], cells[1]));
    }
    int line = FILE.lines().toList().indexOf("deny publish open.root") + 1;
    assertThat(audit)
        .contains("\"name\":\"open.root\",\"reason\":\"deny publish open.root (")
        .contains("roles.conf:" + line + ")\",\"count\":1");
  }

  @Test
  void everyActionIsAllowedByItsRulesOnly(@TempDir Path directory) throws Exception {
    Path roles = Files.writeString(directory.resolve("roles.conf"), FILE);
    ListAppender<ILoggingEvent> audit = new ListAppender<>();
    Logger lines = (Logger) LoggerFactory.getLogger("eventbus.audit.lines");
    lines.setLevel(Level.INFO);
    lines.addAppender(audit);
    audit.start();
    String token = SignedTokens.token("u1", Instant.now(), "{\"roles\":[\"user\"]}");
    try (BusServer bus =
            TestBus.start(
                SignedTokens.settings(
                    directory,
                    "auth.roles-file",
                    roles.toString(),
                    "audit.file",
                    directory.resolve("audit.log").toString()));
        RawClient client = RawClient.upgraded(bus.uri())) {
      client.send(
          ControlFrames.encode(
              TypeCode.HELLO, new Hello("raw", "test", token, null, Map.of(), null, null, null)));
      client.expect(TypeCode.WELCOME);
      List<String> wrong = new ArrayList<>();

      for (String row : ROWS.lines().toList()) {
        String[] cells = row.split(" +", -1);
        if (mayDo(client, cells[0], cells[1]) != cells[2].equals("yes")) {
          wrong.add(row);
        }
      }
      assertThat(wrong).isEmpty();
    }
    lines.detachAppender(audit);
    assertAudited(audit.list.stream().map(ILoggingEvent::getFormattedMessage).toList());
  }
}
