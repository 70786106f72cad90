package io.eventbus.server;

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

/** This module's rows of the package table in {@code docs/architecture.md}, and more rules. */
@AnalyzeClasses(
    packages = {"io.eventbus.server", "io.eventbus.cli"},
    importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
  private static final String TRANSPORT = "io.eventbus.server.transport..";
  private static final String FEDERATION = "io.eventbus.server.federation..";
  private static final String ADMIN = "io.eventbus.server.admin";
  private static final String VIEW = "io.eventbus.server.view";
  private static final String SERVER = "io.eventbus.server";
  private static final String COMMANDS = "io.eventbus.cli..";
  private static final String NETTY_COLLECTIONS = "io.netty.util.collection";

  @ArchTest
  static void every_package_keeps_to_its_row(JavaClasses all) throws IOException {
    PackageTable.check("eventbus-server", all);
  }

  @ArchTest
  static final ArchRule no_cycles = slices().matching("io.eventbus.(**)").should().beFreeOfCycles();

  /**
   * Rule for the table of Netty, which walks over all numbers that share a place; clients choose
   * numbers.
   */
  @ArchTest
  static final ArchRule only_mixed_numbers_are_keys_of_netty =
      noClasses()
          .that()
          .doNotHaveFullyQualifiedName("io.eventbus.server.memory.NumberMap")
          .should()
          .dependOnClassesThat()
          .resideInAPackage(NETTY_COLLECTIONS);

  @ArchTest
  static final ArchRule only_what_has_sockets_uses_netty_beyond_its_buffers =
      noClasses()
          .that()
          .resideOutsideOfPackages(TRANSPORT, FEDERATION, ADMIN)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "io.netty.channel..",
              "io.netty.bootstrap..",
              "io.netty.handler..",
              "io.netty.resolver..");

  @ArchTest
  static final ArchRule only_administration_views_and_command_line_use_jackson_and_meters =
      noClasses()
          .that()
          .resideOutsideOfPackages(ADMIN, VIEW, COMMANDS)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("com.fasterxml.jackson..", "io.micrometer..", "io.prometheus..");

  @ArchTest
  static final ArchRule only_the_command_line_uses_picocli_and_the_client =
      noClasses()
          .that()
          .resideOutsideOfPackage(COMMANDS)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("picocli..", "io.eventbus.client..");

  @ArchTest
  static final ArchRule nobody_imports_the_server_but_the_command_line =
      noClasses()
          .that()
          .resideOutsideOfPackages(SERVER, COMMANDS)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(SERVER, COMMANDS);

  @ArchTest static final ArchRule no_static_state = fields().that().areStatic().should().beFinal();
}
