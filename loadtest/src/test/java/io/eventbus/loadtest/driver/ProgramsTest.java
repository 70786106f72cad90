package io.eventbus.loadtest.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class ProgramsTest {
  private static final Pattern VERSION = Pattern.compile("version ([0-9.]+)");

  @Test
  void findsAProgramOnThePathAndItsVersion() {
    assertThat(Programs.find("sh")).isPresent();
    assertThat(Programs.availability("echo", "version 1.2.3", VERSION, "?"))
        .isEqualTo(Availability.present("1.2.3"));
  }

  @Test
  void tellsHowToGetAProgramThatIsAbsent() {
    assertThat(Programs.availability("no-such-program", "-v", VERSION, "run install.sh"))
        .isEqualTo(Availability.absent("no program no-such-program: run install.sh"));
  }

  @Test
  void aProgramWithoutAVersionIsNotTheOneThatIsMeant() {
    Availability found = Programs.availability("echo", "hello", VERSION, "?");
    assertThat(found.present()).isFalse();
    assertThat(found.detail()).contains("told no version: hello");
  }

  @Test
  void theBuildTellsTheVersionsOfLibraries() {
    assertThat(LibraryVersions.of("jnats")).matches("[0-9]+\\.[0-9]+.*");
  }
}
