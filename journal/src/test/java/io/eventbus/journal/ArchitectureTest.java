package io.eventbus.journal;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
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
import java.util.concurrent.CompletionStage;

/** Holds this module's rows of the package table in {@code docs/architecture.md}. */
@AnalyzeClasses(
    packages = "io.eventbus.journal",
    importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
  private static final String[] PURE = {
    "io.eventbus.journal.rows",
    "io.eventbus.journal.chunk",
    "io.eventbus.journal.codec",
    "io.eventbus.journal.state"
  };

  @ArchTest
  static final ArchRule no_cycles = slices().matching("io.eventbus.(**)").should().beFreeOfCycles();

  @ArchTest
  static void every_package_keeps_to_its_row(JavaClasses all) throws IOException {
    PackageTable.check("journal", all);
  }

  @ArchTest
  static final ArchRule the_rules_know_no_time_no_io_and_no_threads =
      noClasses()
          .that()
          .resideInAnyPackage(PURE)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "java.io..",
              "java.net..",
              "java.nio.channels..",
              "java.nio.file..",
              "java.security..",
              "java.time..",
              "java.util.concurrent..",
              "java.util.random..");

  @ArchTest
  static final ArchRule the_port_knows_no_io_and_no_threads_but_stages_of_results =
      noClasses()
          .that()
          .resideInAPackage("io.eventbus.journal")
          .should()
          .dependOnClassesThat(
              resideInAnyPackage(
                      "java.io..",
                      "java.net..",
                      "java.nio.channels..",
                      "java.nio.file..",
                      "java.security..",
                      "java.time..",
                      "java.util.concurrent..",
                      "org.slf4j..")
                  .and(not(assignableTo(CompletionStage.class))));

  @ArchTest
  static final ArchRule the_rules_ask_neither_the_system_nor_chance =
      noClasses()
          .that()
          .resideInAnyPackage(PURE)
          .should()
          .dependOnClassesThat()
          .belongToAnyOf(
              Runtime.class,
              Thread.class,
              java.util.Random.class,
              java.util.Date.class,
              java.util.Locale.class,
              java.util.UUID.class)
          .orShould()
          .callMethod(Math.class, "random")
          .orShould()
          .callMethod(System.class, "nanoTime")
          .orShould()
          .callMethod(System.class, "currentTimeMillis");

  @ArchTest
  static final ArchRule rules_and_formats_log_nothing =
      noClasses()
          .that()
          .resideInAnyPackage(PURE)
          .should()
          .dependOnClassesThat()
          .resideInAPackage("org.slf4j..");

  @ArchTest static final ArchRule no_static_state = fields().that().areStatic().should().beFinal();
}
