package io.eventbus.conformance;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** Rules of docs/architecture.md for this module. */
@AnalyzeClasses(
    packages = "io.eventbus.conformance",
    importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
  private static final String ROOT = "io.eventbus.conformance";

  @ArchTest
  static final ArchRule LAYERS =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .layer("command")
          .definedBy(ROOT)
          .layer("report")
          .definedBy(ROOT + ".report")
          .layer("run")
          .definedBy(ROOT + ".run")
          .layer("scenario")
          .definedBy(ROOT + ".scenario")
          .layer("sdk")
          .definedBy(ROOT + ".sdk")
          .layer("vector")
          .definedBy(ROOT + ".vector")
          .layer("testee")
          .definedBy(ROOT + ".testee")
          .layer("wire")
          .definedBy(ROOT + ".wire")
          .layer("live")
          .definedBy(ROOT + ".live")
          .layer("frame")
          .definedBy(ROOT + ".frame")
          .whereLayer("command")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("report")
          .mayOnlyBeAccessedByLayers("command")
          .whereLayer("run")
          .mayOnlyBeAccessedByLayers("command", "report")
          .whereLayer("scenario")
          .mayOnlyBeAccessedByLayers("command", "report", "run")
          .whereLayer("sdk")
          .mayOnlyBeAccessedByLayers("command")
          .whereLayer("vector")
          .mayOnlyBeAccessedByLayers("command")
          .whereLayer("testee")
          .mayOnlyBeAccessedByLayers("command", "run", "sdk")
          .whereLayer("wire")
          .mayOnlyBeAccessedByLayers("run")
          .whereLayer("live")
          .mayOnlyBeAccessedByLayers("run")
          .whereLayer("frame")
          .mayOnlyBeAccessedByLayers("run", "vector", "sdk");

  @ArchTest
  static final ArchRule NO_CYCLES = slices().matching(ROOT + ".(*)..").should().beFreeOfCycles();

  /** Keeps the judge independent of the judged: the Java SDK is a testee like any other. */
  @ArchTest
  static final ArchRule ONLY_ITS_TESTEE_KNOWS_THE_JAVA_SDK =
      noClasses()
          .that()
          .resideOutsideOfPackage(ROOT + ".sdk")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("io.eventbus.client..");

  @ArchTest
  static final ArchRule ONLY_LIVE_KNOWS_THE_SERVER =
      noClasses()
          .that()
          .resideOutsideOfPackage(ROOT + ".live")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("io.eventbus.server..");

  @ArchTest
  static final ArchRule STATICS_ARE_FINAL = fields().that().areStatic().should().beFinal();
}
