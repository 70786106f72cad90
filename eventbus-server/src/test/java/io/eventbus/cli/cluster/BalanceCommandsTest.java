package io.eventbus.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;

class BalanceCommandsTest {
  private static String[] row(String json) throws Exception {
    return BalanceCommands.Buses.row(new ObjectMapper().readTree(json));
  }

  @Test
  void aBusThatIsDownHasNoLoadAndNoClients() throws Exception {
    String up =
        """
        {"bus":"a","zone":"z","state":"UP","load":0.08,"clients":2,"overloaded":true}\
        """;
    assertThat(row(up)).containsExactly("a", "z", "UP", "8 %", "2", "overloaded ");
    assertThat(row(up.replace("UP", "DOWN"))).containsExactly("a", "z", "DOWN", "-", "-", "");
    assertThat(row(up.replace("0.08", "-1").replace("2,", "-1,"))).contains("?");
  }

  @Test
  void aSingleClientIsSingular() {
    assertThat(BalanceCommands.count(0)).isEqualTo("0 clients");
    assertThat(BalanceCommands.count(1)).isEqualTo("1 client");
    assertThat(BalanceCommands.count(2)).isEqualTo("2 clients");
  }
}
