package io.eventbus.client;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.eventbus.testing.PackageTable;
import java.io.IOException;

/** This module's rows of the package table in {@code docs/architecture.md}, and more rules. */
@AnalyzeClasses(packages = "io.eventbus.client", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {
  @ArchTest
  static void every_package_keeps_to_its_row(JavaClasses all) throws IOException {
    PackageTable.check("client-sdk/java", all);
  }

  @ArchTest
  static final ArchRule THE_API_AND_CALLS_LOG_NOTHING =
      noClasses()
          .that()
          .resideInAnyPackage("io.eventbus.client", "io.eventbus.client.internal.call")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("org.slf4j..");

  @ArchTest
  static final ArchRule NO_CYCLES = slices().matching("io.eventbus.(**)").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule STATICS_ARE_FINAL =
      fields()
          .that()
          .areStatic()
          // The compiler's own, for switches over enums.
          .and()
          .doNotHaveModifier(JavaModifier.SYNTHETIC)
          .should()
          .beFinal();
}
