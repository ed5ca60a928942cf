"""Networks and their files: the only door to torch, tokenizers and transformers."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.models.encoder import Encoder, feature_names, load_encoder
    from nlgauge.models.entailment import Entailment, NliFiles, NliModel, columns_of, load_nli, locate_nli
    from nlgauge.models.filler import InfillModel, load_infill
    from nlgauge.models.generation import Seq2Seq
    from nlgauge.models.heads import Head, find_head
    from nlgauge.models.infill import Filler, Gap, Infill, InfillFiles, locate_infill
    from nlgauge.models.regressor import RegressorFiles, load_regressor, locate_regressor
    from nlgauge.models.tokens import TextTokenizer
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "Encoder", "Entailment", "Filler", "Gap", "Head", "Infill", "InfillFiles", "InfillModel", "NliFiles", "NliModel",
    "RegressorFiles", "Seq2Seq", "TextTokenizer", "columns_of", "feature_names", "find_head", "load_encoder",
    "load_infill", "load_nli", "load_regressor", "locate_infill", "locate_nli", "locate_regressor",
]  # fmt: skip
