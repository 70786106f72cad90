package io.eventbus.registry;

import static com.tngtech.archunit.core.domain.JavaModifier.FINAL;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.eventbus.testing.PackageTable;
import java.io.IOException;
import java.util.UUID;

/** Holds this module's rows of the package table in {@code docs/architecture.md}. */
@AnalyzeClasses(packages = "io.eventbus", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
  private static final String PORT = "io.eventbus.registry";
  private static final String STATE = "io.eventbus.registry.state..";
  private static final String SCHEMA = "io.eventbus.registry.schema..";

  @ArchTest
  static final ArchRule no_cycles = slices().matching("io.eventbus.(**)").should().beFreeOfCycles();

  @ArchTest
  static void every_package_keeps_to_its_row(JavaClasses all) throws IOException {
    PackageTable.check("raft-coordination", all);
  }

  @ArchTest
  static final ArchRule the_state_machine_knows_no_time_no_io_and_no_threads =
      noClasses()
          .that()
          .resideInAPackage(STATE)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "java.io..",
              "java.net..",
              "java.nio..",
              "java.security..",
              "java.time..",
              "java.util.concurrent..",
              "java.util.random..");

  @ArchTest
  static final ArchRule the_state_machine_asks_neither_the_system_nor_chance =
      noClasses()
          .that()
          .resideInAPackage(STATE)
          .should()
          .dependOnClassesThat()
          .belongToAnyOf(
              System.class,
              Runtime.class,
              Thread.class,
              java.util.Random.class,
              java.util.Date.class,
              java.util.Locale.class,
              UUID.class)
          .orShould()
          .callMethod(Math.class, "random")
          .orShould()
          .callMethod(CommandId.class, "random", long.class);

  @ArchTest
  static final ArchRule port_state_machine_and_codec_log_nothing =
      noClasses()
          .that()
          .resideInAnyPackage(PORT, STATE, "io.eventbus.registry.codec..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("org.slf4j..");

  @ArchTest
  static final ArchRule no_static_state =
      fields()
          .that()
          .areStatic()
          .and()
          .areDeclaredInClassesThat()
          .resideOutsideOfPackage(SCHEMA)
          .should()
          .beFinal();

  @ArchTest
  static final ArchRule values_of_the_port_are_immutable =
      fields()
          .that()
          .areDeclaredInClassesThat()
          .resideInAPackage(PORT)
          .or()
          .areDeclaredInClassesThat()
          .resideInAPackage(STATE)
          .should()
          .haveModifier(FINAL);
}
