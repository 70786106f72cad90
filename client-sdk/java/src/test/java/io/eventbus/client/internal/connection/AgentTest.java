package io.eventbus.client.internal.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class AgentTest {
  @Test
  void theVersionIsThatOfTheBuild() throws Exception {
    Matcher version =
        Pattern.compile("<artifactId>eventbus-parent</artifactId>\\s*<version>([^<]*)</version>")
            .matcher(Files.readString(Path.of("pom.xml")));
    assertThat(version.find()).isTrue();
    assertThat(Agent.NAME).isEqualTo("eventbus-java/" + version.group(1));
  }
}
