package io.eventbus.loadtest;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(
    packages = "io.eventbus.loadtest",
    importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
  private static final String ROOT = "io.eventbus.loadtest";

  @ArchTest
  static final ArchRule LAYERS =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .layer("command")
          .definedBy(ROOT)
          .layer("report")
          .definedBy(ROOT + ".report..")
          .layer("run")
          .definedBy(ROOT + ".run..")
          .layer("systems")
          .definedBy(ROOT + ".driver.*..")
          .layer("driver")
          .definedBy(ROOT + ".driver")
          .layer("workload")
          .definedBy(ROOT + ".workload..")
          .whereLayer("command")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("report")
          .mayOnlyBeAccessedByLayers("command")
          .whereLayer("run")
          .mayOnlyBeAccessedByLayers("command", "report")
          .whereLayer("systems")
          .mayOnlyBeAccessedByLayers("command")
          .whereLayer("driver")
          .mayOnlyBeAccessedByLayers("command", "report", "run", "systems");

  @ArchTest
  static final ArchRule NO_CYCLES = slices().matching(ROOT + ".(**)").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule SYSTEMS_KEEP_TO_THEMSELVES =
      slices().matching(ROOT + ".driver.(*)..").should().notDependOnEachOther();

  @ArchTest
  static final ArchRule COORDINATION =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .layer("command")
          .definedBy(ROOT)
          .layer("run")
          .definedBy(ROOT + ".coordination.run")
          .layer("systems")
          .definedBy(
              ROOT + ".coordination.eventbus",
              ROOT + ".coordination.zookeeper",
              ROOT + ".coordination.etcd")
          .layer("ports")
          .definedBy(ROOT + ".coordination")
          .whereLayer("command")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("run")
          .mayOnlyBeAccessedByLayers("command")
          .whereLayer("systems")
          .mayOnlyBeAccessedByLayers("command");

  @ArchTest
  static final ArchRule SWITCHING =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .layer("command")
          .definedBy(ROOT)
          .layer("run")
          .definedBy(ROOT + ".switching.run")
          .layer("systems")
          .definedBy(ROOT + ".driver.*..")
          .layer("ports")
          .definedBy(ROOT + ".switching")
          .whereLayer("command")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("run")
          .mayOnlyBeAccessedByLayers("command")
          .whereLayer("systems")
          .mayOnlyBeAccessedByLayers("command");

  @ArchTest
  static final ArchRule ATTACK =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .layer("command")
          .definedBy(ROOT)
          .layer("report")
          .definedBy(ROOT + ".attack.report")
          .layer("run")
          .definedBy(ROOT + ".attack.run")
          .layer("honest")
          .definedBy(ROOT + ".attack.honest")
          .layer("forked")
          .definedBy(ROOT + ".attack.forked")
          .layer("hostile")
          .definedBy(ROOT + ".attack.hostile")
          .layer("ports")
          .definedBy(ROOT + ".attack")
          .layer("wire")
          .definedBy(ROOT + ".attack.wire")
          .whereLayer("command")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("report")
          .mayOnlyBeAccessedByLayers("command")
          .whereLayer("run")
          .mayOnlyBeAccessedByLayers("command", "report")
          .whereLayer("honest")
          .mayOnlyBeAccessedByLayers("run", "report")
          .whereLayer("forked")
          .mayOnlyBeAccessedByLayers("run")
          .whereLayer("hostile")
          .mayOnlyBeAccessedByLayers("command", "forked");

  @ArchTest
  static final ArchRule FAULTS =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .layer("command")
          .definedBy(ROOT)
          .layer("run")
          .definedBy(ROOT + ".faults.run")
          .layer("clients")
          .definedBy(ROOT + ".faults.clients")
          .layer("buses")
          .definedBy(ROOT + ".faults.buses")
          .layer("history")
          .definedBy(ROOT + ".faults.history")
          .layer("systems")
          .definedBy(ROOT + ".driver.*..")
          .layer("power")
          .definedBy(ROOT + ".faults.power")
          .whereLayer("command")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("run")
          .mayOnlyBeAccessedByLayers("command")
          .whereLayer("clients")
          .mayOnlyBeAccessedByLayers("run")
          .whereLayer("buses")
          .mayOnlyBeAccessedByLayers("command", "run", "power")
          .whereLayer("power")
          .mayOnlyBeAccessedByLayers("command", "systems")
          .whereLayer("history")
          .mayOnlyBeAccessedByLayers("run", "clients");

  /** A judge that knows the bus would share its mistakes. */
  @ArchTest
  static final ArchRule THE_JUDGE_KNOWS_NOTHING =
      classes()
          .that()
          .resideInAPackage(ROOT + ".faults.history")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(ROOT + ".faults.history", "java..", "org.jspecify..");

  /** The honest and the hostile write their own frames: only those know the protocol. */
  @ArchTest
  static final ArchRule ATTACKS_KEEP_THE_PROTOCOL =
      noClasses()
          .that()
          .resideInAPackage(ROOT + ".attack..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.eventbus.client..", "io.eventbus.server..", "io.eventbus.cli..");

  @ArchTest
  static final ArchRule COORDINATION_SYSTEMS_KEEP_THEIR_LIBRARIES =
      noClasses()
          .that()
          .resideInAnyPackage(ROOT, ROOT + ".coordination", ROOT + ".coordination.run")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "io.eventbus.registry..",
              "io.eventbus.raft..",
              "io.eventbus.link..",
              "org.apache.zookeeper..",
              "io.grpc..");

  @ArchTest
  static final ArchRule ONLY_THE_DRIVER_KNOWS_THE_CLIENT =
      noClasses()
          .that()
          .resideOutsideOfPackages(
              ROOT + ".driver.eventbus..",
              ROOT + ".faults.clients",
              ROOT + ".journal",
              ROOT + ".jmh..",
              ROOT + ".attack.wire",
              ROOT + ".attack.forked",
              ROOT + ".attack.honest",
              ROOT + ".attack.hostile")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "io.eventbus.client..",
              "io.eventbus.server..",
              "io.eventbus.protocol..",
              "io.eventbus.schema..",
              "io.eventbus.cli..");

  @ArchTest
  static final ArchRule THE_BUS_IS_OUT_OF_PROCESS =
      noClasses()
          .that()
          .resideInAPackage(ROOT + ".driver..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.eventbus.server..", "io.eventbus.cli..");

  @ArchTest
  static final ArchRule STATICS_ARE_FINAL =
      fields()
          .that()
          .areStatic()
          .and()
          .areDeclaredInClassesThat()
          .resideOutsideOfPackage(ROOT + ".jmh.jmh_generated..")
          .should()
          .beFinal();

  @ArchTest
  static final ArchRule PICOCLI_STAYS_IN_THE_COMMAND =
      classes()
          .that()
          .resideInAPackage(ROOT + ".*..")
          .should()
          .onlyDependOnClassesThat()
          .resideOutsideOfPackage("picocli..");
}
