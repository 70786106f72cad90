package io.eventbus.server.sys;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.server.advisory.Advisory;
import io.eventbus.testing.GeneratedPart;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The fields in the page of system topics equal those that are published. */
class SysDocumentTest {
  /** Advisory of each kind. */
  private static final List<Advisory> ADVISORIES =
      List.of(
          new Advisory.ClientConnected(1, "", "", "", "", "", "", ""),
          new Advisory.ClientDisconnected(1, "", "", "", "", Instant.EPOCH, 1, 1),
          new Advisory.ChangeBegun(1, "", ""),
          new Advisory.ChangeFinished(1, "", Advisory.ChangeOutcome.MOVED),
          new Advisory.DrainChanged(true),
          new Advisory.ConnectionEvicted("", 1, ""),
          new Advisory.QuotaReached("", null, false, "", 1, 1),
          new Advisory.BusStateChanged("", null, ""),
          new Advisory.CertificateChanged("", "", Instant.EPOCH),
          new Advisory.CertificateRefused("", ""),
          new Advisory.JournalChanged("", "", Advisory.JournalChange.CREATED, ""),
          new Advisory.JournalFull("", "", true),
          new Advisory.JournalDamaged("", "", ""),
          new Advisory.ConsumerChanged("", "", "", 1, 1),
          new Advisory.ShardLeaderChanged(1, null, null, 1),
          new Advisory.ShardMembersChanged(1, List.of(), List.of()),
          new Advisory.ReplicaChanged(1, "", Advisory.ReplicaChange.BEHIND, ""),
          new Advisory.ClientRefused("", "", "", "", ""),
          new Advisory.ClientExpired(1, "", "", "", "", ""),
          new Advisory.ClientRevoked(1, "", "", "", "", ""),
          new Advisory.RevocationChanged("", "", ""),
          new Advisory.AccessChanged("", ""),
          new Advisory.AccessRefused("", ""),
          new Advisory.PermissionDenied("", "", "", "", "", "", "", 1),
          new Advisory.AdminAction("", "", "", "", "", "", 200, ""));

  /** Returns the first two columns of a table. */
  private static List<String> documented(String name) throws Exception {
    return GeneratedPart.read("system-topics.md", name)
        .lines()
        .skip(2)
        .map(line -> line.split("\\|", 4))
        .map(cells -> cells[1].strip() + " " + cells[2].strip())
        .toList();
  }

  private static String row(String part, Class<?> type) {
    return "`"
        + part
        + "` "
        + Arrays.stream(type.getRecordComponents())
            .map(component -> "`" + component.getName() + "`")
            .collect(Collectors.joining(", "));
  }

  private static void collect(String part, Class<?> type, List<String> rows) {
    rows.add(row(part, type));
    for (RecordComponent component : type.getRecordComponents()) {
      String inner =
          part.equals("message") ? component.getName() : part + "." + component.getName();
      Class<?> of = component.getType();
      if (of.isRecord()) {
        collect(inner, of, rows);
      } else if (component.getGenericType() instanceof ParameterizedType list) {
        Type[] arguments = list.getActualTypeArguments();
        if (arguments[arguments.length - 1] instanceof Class<?> item && item.isRecord()) {
          collect(inner + "[]", item, rows);
        }
      }
    }
  }

  @Test
  void everyFigureIsInTheTable() throws Exception {
    List<String> rows = new ArrayList<>();
    collect("message", StatsTopic.Message.class, rows);
    assertThat(documented("figures of a bus")).containsExactlyElementsOf(rows);
  }

  @Test
  void everyEventIsInTheTable() throws Exception {
    assertThat(ADVISORIES)
        .extracting(Object::getClass)
        .containsExactlyInAnyOrder(Advisory.class.getPermittedSubclasses());
    List<String> rows = new ArrayList<>();
    List<String> onlyAudited = new ArrayList<>();
    for (Advisory advisory : ADVISORIES) {
      assertThat(advisory.publishedAsEvent() || advisory.belongsToAudit()).isTrue();
      (advisory.publishedAsEvent() ? rows : onlyAudited)
          .add(row(advisory.type(), advisory.getClass()));
    }
    assertThat(documented("events of a bus")).containsExactlyElementsOf(rows);
    assertThat(documented("audit of a bus")).containsExactlyElementsOf(onlyAudited);
  }
}
