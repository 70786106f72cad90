package io.eventbus.client;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The table of packages in the architecture document, for this module. */
@AnalyzeClasses(packages = "io.eventbus.client", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {
  private static final String[] PLATFORM = {"java..", "javax.net.ssl..", "org.jspecify.."};

  @ArchTest
  static final ArchRule THE_API_DEPENDS_ON_NOTHING_OF_OURS =
      classes()
          .that(resideInAPackage("io.eventbus.client"))
          .should()
          .onlyDependOnClassesThat(
              resideInAnyPackage("io.eventbus.client", "org.apache.avro..")
                  .or(resideInAnyPackage(PLATFORM)));

  @ArchTest
  static final ArchRule INTERNALS_KNOW_THE_API_AND_THE_PROTOCOL =
      classes()
          .that(resideInAPackage("io.eventbus.client.internal"))
          .should()
          .onlyDependOnClassesThat(
              resideInAnyPackage(
                      "io.eventbus.client",
                      "io.eventbus.client.internal",
                      "io.eventbus.client.internal.call",
                      "io.eventbus.protocol",
                      "io.eventbus.schema",
                      "org.apache.avro..",
                      "org.slf4j..")
                  .or(resideInAnyPackage(PLATFORM)));

  @ArchTest
  static final ArchRule CALLS_KNOW_NO_CONNECTION =
      classes()
          .that(resideInAPackage("io.eventbus.client.internal.call"))
          .should()
          .onlyDependOnClassesThat(
              resideInAnyPackage(
                      "io.eventbus.client",
                      "io.eventbus.client.internal.call",
                      "io.eventbus.protocol",
                      "io.eventbus.schema")
                  .or(resideInAnyPackage(PLATFORM)));

  @ArchTest
  static final ArchRule THE_ADAPTER_KNOWS_THE_PORT_AND_TYRUS =
      classes()
          .that(resideInAPackage("io.eventbus.client.tyrus"))
          .should()
          .onlyDependOnClassesThat(
              resideInAnyPackage(
                      "io.eventbus.client.tyrus",
                      "io.eventbus.client.internal",
                      // The marker that a connection is to calls.
                      "io.eventbus.client.internal.call",
                      "jakarta.websocket..",
                      "org.glassfish.tyrus..",
                      "org.glassfish.grizzly..",
                      "org.slf4j..")
                  .or(resideInAnyPackage(PLATFORM)));

  @ArchTest
  static final ArchRule ONLY_THE_ADAPTER_KNOWS_TYRUS =
      noClasses()
          .that()
          .resideOutsideOfPackage("io.eventbus.client.tyrus")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "jakarta.websocket..", "org.glassfish.tyrus..", "org.glassfish.grizzly..");

  @ArchTest
  static final ArchRule THERE_IS_NOTHING_ELSE_HERE =
      classes()
          .should()
          .resideInAnyPackage(
              "io.eventbus.client",
              "io.eventbus.client.internal",
              "io.eventbus.client.internal.call",
              "io.eventbus.client.tyrus");

  @ArchTest
  static final ArchRule NO_CYCLES = slices().matching("io.eventbus.(**)").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule STATICS_ARE_FINAL =
      fields()
          .that()
          .areStatic()
          // The compiler's own, for switches over enums.
          .and()
          .doNotHaveModifier(com.tngtech.archunit.core.domain.JavaModifier.SYNTHETIC)
          .should()
          .beFinal();
}
