package io.eventbus.protocol;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.eventbus.schema.EventBusProtocol;
import io.eventbus.testing.PackageTable;
import java.io.IOException;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.avro.Schema;
import org.apache.avro.specific.AvroGenerated;

/** The table of packages in the architecture document, for this module. */
@AnalyzeClasses(packages = "io.eventbus", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {
  @ArchTest
  static final ArchRule SCHEMA_HOLDS_ONLY_GENERATED_TYPES =
      classes()
          .that(resideInAPackage("io.eventbus.schema.."))
          .and()
          .areTopLevelClasses()
          .should()
          .beAnnotatedWith(AvroGenerated.class);

  /** Checks that the SDK's users get no frames that only buses send each other. */
  @ArchTest
  static void schemaHoldsTheProtocolOfClientsOnly(JavaClasses all) {
    Set<String> types =
        EventBusProtocol.PROTOCOL.getTypes().stream()
            .map(Schema::getFullName)
            .collect(Collectors.toSet());
    types.add(EventBusProtocol.class.getName());
    assertThat(
            all.stream()
                .filter(resideInAPackage("io.eventbus.schema"))
                .filter(type -> !type.isNestedClass())
                .map(JavaClass::getName))
        .containsExactlyInAnyOrderElementsOf(types);
  }

  @ArchTest
  static final ArchRule FRAMES_BETWEEN_BUSES_ARE_ELSEWHERE =
      noClasses().should().haveNameMatching("io\\.eventbus\\.protocol\\.(Bus|Forward|Lane|Peer).*");

  @ArchTest
  static void every_package_keeps_to_its_row(JavaClasses all) throws IOException {
    PackageTable.check("schemas", all);
  }

  @ArchTest
  static final ArchRule NO_CYCLES =
      slices().matching("io.eventbus.(*)..").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule STATICS_ARE_FINAL = fields().that().areStatic().should().beFinal();
}
