"""Table of the data sets that MindSpore 2 adds to r1.1, with the module of each."""

_SETS = {
    "digits": "EMnistDataset FashionMnistDataset KMnistDataset QMnistDataset SemeionDataset USPSDataset",
    "packed_images": "FakeImageDataset PhotoTourDataset STL10Dataset",
    "matlab_sets": "Caltech101Dataset Flowers102Dataset SBDataset SVHNDataset",
    "image_trees": "Caltech256Dataset Food101Dataset LSUNDataset OmniglotDataset Places365Dataset RenderedSST2Dataset "
    "SUN397Dataset",
    "image_lists": "CityscapesDataset DIV2KDataset FlickrDataset KITTIDataset LFWDataset SBUDataset WIDERFaceDataset",
    "csv_texts": "AGNewsDataset AmazonReviewDataset DBpediaDataset SogouNewsDataset YahooAnswersDataset "
    "YelpReviewDataset",
    "text_lines": "EnWik9Dataset IWSLT2016Dataset IWSLT2017Dataset Multi30kDataset PennTreebankDataset WikiTextDataset",
    "text_records": "CoNLL2000Dataset IMDBDataset SQuADDataset SST2Dataset UDPOSDataset",
    "sounds": "CMUArcticDataset GTZANDataset LJSpeechDataset LibriTTSDataset SpeechCommandsDataset TedliumDataset "
    "YesNoDataset",
}
PUBLIC_SETS: dict[str, str] = {name: f"sources.{module}" for module, names in _SETS.items() for name in names.split()}
